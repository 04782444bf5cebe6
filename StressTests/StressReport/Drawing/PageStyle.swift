/// How the page looks, on light and on dark screens, on paper, wide and narrow.
enum PageStyle {
  /// The width of charts in their own units; their text is larger on narrow screens, so that it can be read
  /// there, and leaves room for that.
  static let chartWidth = 480.0

  static let css = """
    :root { color-scheme: light dark;
      --page: #f7f7f5; --card: #ffffff; --ink: #1d2127; --soft: #5c6570; --rule: #dcdfe3;
      --blue: #2f6fb5; --pale: #a9c8ea; --orange: #c7690f; --red: #c02a35; --green: #237a45;
      --amber: #d9a520; --band: #8b93a11f; --badge: #fbe9ea; --box: #eef4fb; --boxRed: #fbe9ea; }
    @media (prefers-color-scheme: dark) { :root {
      --page: #14171b; --card: #1d2126; --ink: #e7eaee; --soft: #9fa8b3; --rule: #363d46;
      --blue: #6ba6e8; --pale: #5a7da6; --orange: #f0a252; --red: #ff7a80; --green: #63c48a;
      --amber: #d8b04a; --band: #aab4c21f; --badge: #43262a; --box: #24303e; --boxRed: #43262a; } }
    * { box-sizing: border-box; }
    body { margin: 0 auto; padding: 16px; max-width: 1120px; background: var(--page);
      color: var(--ink); font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
    h1 { font-size: 24px; margin: 8px 0 4px; } h2 { font-size: 20px; margin: 32px 0 4px; }
    h3 { font-size: 15px; margin: 0 0 6px; }
    a { color: var(--blue); }
    p { margin: 4px 0 10px; } .told { white-space: pre-line; }
    ol { margin: 6px 0; padding-left: 24px; } .soft { color: var(--soft); }
    .verdict { font-weight: 600; } .good { color: var(--green); } .bad { color: var(--red); }
    .card { background: var(--card); border: 1px solid var(--rule); border-radius: 8px;
      padding: 12px; margin: 0 0 12px; break-inside: avoid; }
    .violation { border-color: var(--red); }
    .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr));
      gap: 12px; align-items: start; } .columns > div { min-width: 0; }
    .scroll { overflow-x: auto; scrollbar-width: thin; }
    .hint { color: var(--soft); font-size: 13px; margin: 0 0 6px; }
    @media (min-width: 740px) { .hint.lanes2 { display: none; } }
    @media (min-width: 1040px) { .hint.lanes3 { display: none; } }
    .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(132px, 1fr)); gap: 8px;
      margin: 8px 0 12px; }
    .tile { background: var(--card); border: 1px solid var(--rule); border-radius: 8px;
      padding: 6px 10px; } .tile b { display: block; font-size: 17px; font-weight: 600;
      white-space: nowrap; }
    .tile span { color: var(--soft); font-size: 13px; }
    table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
    th, td { padding: 3px 9px 3px 0; text-align: right; white-space: nowrap;
      font-variant-numeric: tabular-nums; border-bottom: 1px solid var(--rule); }
    th { color: var(--soft); font-weight: 500; }
    th.word, td.word { text-align: left; }
    pre, code { font: 13px/1.45 ui-monospace, monospace; }
    pre { margin: 6px 0; padding: 8px 10px; background: var(--page); border-radius: 6px;
      white-space: pre-wrap; }
    summary { cursor: pointer; color: var(--soft); }
    .key { font-size: 13px; color: var(--soft); display: flex; flex-wrap: wrap; gap: 2px 14px; }
    .key i { display: inline-block; width: 12px; height: 4px; margin-right: 5px;
      vertical-align: middle; border-radius: 2px; }
    svg { display: block; width: 100%; height: auto; } .scroll svg { width: auto; max-width: none; }
    svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
    svg .soft { fill: var(--soft); } svg .title { font-weight: 600; }
    svg .mono { font: 12px ui-monospace, monospace; }
    svg .label { font-weight: 600; paint-order: stroke; stroke: var(--card); stroke-width: 5px; }
    svg .halo { paint-order: stroke; stroke: var(--card); stroke-width: 4px; fill: var(--red);
      font-weight: 600; }
    .grid { stroke: var(--rule); stroke-width: 1; } .axis { stroke: var(--soft); stroke-width: 1; }
    .line { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round; }
    .line.blue { stroke: var(--blue); } .line.orange { stroke: var(--orange); }
    .line.pale { stroke: var(--pale); stroke-width: 1.2; } .line.red { stroke: var(--red); }
    .fill-blue { fill: var(--blue); } .fill-pale { fill: var(--pale); }
    .fill-amber { fill: var(--amber); } .fill-red { fill: var(--red); }
    .fill-orange { fill: var(--orange); } .band { fill: var(--band); }
    i.fill-blue { background: var(--blue); } i.fill-pale { background: var(--pale); }
    i.fill-amber { background: var(--amber); } i.fill-red { background: var(--red); }
    i.fill-orange { background: var(--orange); }
    .missed { fill: none; stroke: var(--soft); stroke-width: 1; }
    .box { fill: var(--box); stroke: var(--blue); } .box.refused { stroke: var(--amber); }
    .box.unknown { fill: var(--boxRed); stroke: var(--red); stroke-dasharray: 5 3; }
    .lane { stroke: var(--rule); stroke-dasharray: 2 4; }
    .edge { fill: none; stroke: var(--red); stroke-width: 1.8; } .head { fill: var(--red); }
    .marker { stroke: var(--orange); stroke-width: 1.4; stroke-dasharray: 4 3; }
    @media (max-width: 600px) { body { padding: 10px; } .card { padding: 8px; } svg.chart text { font-size: 16px; } }
    @media print { body { max-width: none; } }
    """
}
