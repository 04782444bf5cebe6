/// The page: a list that follows the stream of events.
///
/// Titles are set as text, never as HTML.
let page = """
  <!DOCTYPE html>
  <meta charset="utf-8">
  <title>Live notes</title>
  <style>body { font: 1em sans-serif; margin: 2em }</style>
  <h1>Notes</h1>
  <p id="state">connecting</p>
  <ul id="notes"></ul>
  <script>
    const state = document.getElementById("state");
    const list = document.getElementById("notes");
    const events = new EventSource("/events");
    events.onmessage = (event) => {
      list.replaceChildren(...JSON.parse(event.data).map((note) => {
        const item = document.createElement("li");
        item.textContent = note.title;
        return item;
      }));
      state.textContent = "state " + event.lastEventId;
    };
    // The browser connects again by itself.
    events.onerror = () => { state.textContent = "connecting"; };
  </script>
  """
