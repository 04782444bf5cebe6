/// All benchmarks, in the order of the help and of `all`.
enum BenchmarkList {
  /// One line for each: the benchmark, and the words of its command line that make it as small as it can be while
  /// it still does everything, for `--quick`.
  static var all: [BenchmarkEntry] {
    [
      BenchmarkEntry(
        ContentionBenchmark.self, quick: ["--writers=2", "--transactions=200", "--tasks=8"]),
      BenchmarkEntry(HandoverBenchmark.self, quick: ["--turns=40"]),
      BenchmarkEntry(WaitingBenchmark.self, quick: ["--seconds=0.3"]),
      BenchmarkEntry(
        LiveBenchmark.self, quick: ["--queries=1,20", "--samples=20", "--storm=0.2"]),
      BenchmarkEntry(IdleBenchmark.self, quick: ["--queries=1,20", "--seconds=0.3"]),
      BenchmarkEntry(ListBenchmark.self, quick: ["--rows=1000", "--samples=20"]),
      BenchmarkEntry(
        CaptureBenchmark.self,
        quick: ["--transactions=50", "--bulk-transactions=2", "--bulk-rows=100"]),
      BenchmarkEntry(StoreBenchmark.self, quick: ["--items=1000", "--singles=50"]),
      BenchmarkEntry(RowsBenchmark.self, quick: ["--rows=2000", "--singles=100", "--keys=500"]),
      BenchmarkEntry(ModelsBenchmark.self, quick: ["--rows=2000", "--keys=500"]),
      BenchmarkEntry(StreamBenchmark.self, quick: ["--megabytes=4"]),
      BenchmarkEntry(ImportBenchmark.self, quick: ["--rows=5000"]),
    ]
  }

  /// The benchmark of that name.
  static func named(_ name: String) -> BenchmarkEntry? { all.first { $0.name == name } }
}
