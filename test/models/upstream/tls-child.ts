import { defaultHttpLimits, type Wire } from '../../../src/models/upstream/http.ts'
import { UpstreamFailure } from '../../../src/models/upstream/upstream.ts'
import { openDirect } from '../../../src/models/upstream/wire/wire.ts'

/**
 * Started by `tls.test.ts` with `NODE_EXTRA_CA_CERTS`, which Bun reads once at its start. Asks as
 * the lines of its input say (`url account size`, one after the other) and prints what came. The
 * line `wait` gives bytes time to arrive.
 */
const wires = new Map<string, Wire>()

async function ask(url: string, account: string, size: number): Promise<string> {
  const wire = wires.get(url) ?? openDirect(url)
  wires.set(url, wire)
  const { signal } = new AbortController()
  const body = 'x'.repeat(size)
  try {
    const answer = await wire.ask({ account, headers: {}, body, signal, limits: defaultHttpLimits })
    if (size > 0) return await answer.text()
    // Read slowly, so that the server has to wait.
    let received = 0
    await answer.flow((bytes) => {
      const isFirst = received === 0
      received += bytes.length
      return isFirst ? Bun.sleep(300).then(() => true) : true
    })
    return `${received} bytes`
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    return error.reason
  }
}

for (const line of (await Bun.stdin.text()).trim().split('\n')) {
  const [url = '', account = '', size = ''] = line.split(' ')
  if (url === 'wait') await Bun.sleep(300)
  else console.log(await ask(url, account, Number(size)))
}
process.exit(0)
