// Run by `node` (reader-differential.test.ts): reads answers from its input, one a line in base64,
// by Node's own HTTP client, and prints what that made of each.
import http from 'node:http'
import { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'

/** A connection in memory whose server answers any request with these bytes and stays open. */
class Wire extends Duplex {
  constructor(bytes) {
    super()
    this.bytes = bytes
  }
  _read() {}
  _write(_chunk, _encoding, done) {
    const { bytes } = this
    this.bytes = undefined
    done()
    if (bytes) this.push(bytes)
  }
  setTimeout() {}
  setNoDelay() {}
  setKeepAlive() {}
  ref() {}
  unref() {}
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

async function readAnswer(bytes) {
  const found = { status: 0, encoding: null, body: '', isWhole: false, isKept: false }
  const agent = new http.Agent({ keepAlive: true })
  const wire = new Wire(bytes)
  agent.on('free', () => {
    found.isKept = true
  })
  agent.createConnection = () => wire
  const request = http.request({ method: 'POST', agent, maxHeaderSize: 65_536 })
  request.on('error', () => {})
  request.on('response', (answer) => {
    const pieces = []
    found.status = answer.statusCode
    found.encoding = answer.headers['content-encoding'] ?? null
    answer.on('data', (piece) => pieces.push(piece))
    answer.on('error', () => {})
    answer.on('end', () => {
      found.body = Buffer.concat(pieces).toString('base64')
      found.isWhole = answer.complete
    })
  })
  request.end('{}')
  for (let i = 0; i < 12; i++) await turn()
  wire.destroy()
  agent.destroy()
  return found
}

const lines = (await text(process.stdin)).trim().split('\n')
const found = []
for (const line of lines) found.push(await readAnswer(Buffer.from(line, 'base64')))
process.stdout.write(JSON.stringify(found))
