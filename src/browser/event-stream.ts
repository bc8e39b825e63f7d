/**
 * The data of each event of a `text/event-stream` answer, as it comes. `EventSource` cannot POST.
 * Ends with the stream; an event that was cut off is dropped.
 */
export async function* eventsOf(answer: Response): AsyncGenerator<string> {
  if (!answer.body) return
  let rest = ''
  for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
    rest += text
    const frames = rest.split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const data = frame.split('\n').filter((line) => line.startsWith('data: '))
      if (data.length > 0) yield data.map((line) => line.slice(6)).join('\n')
    }
  }
}
