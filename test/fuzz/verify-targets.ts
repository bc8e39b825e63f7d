import { eventsOf } from '../../src/browser/event-stream.ts'
import { readAnnounced } from '../../src/browser/provider.ts'
import type { Json } from '../../src/kernel/canonical.ts'
import {
  readAnchors,
  readCheckpoint,
  readConsistency,
  readSigners,
  WrongAnswer,
} from '../../src/proof/audit/answers.ts'
import { readSubmission } from '../../src/proof/receipts/submitted-receipt.ts'
import { openKeystore } from '../../src/proof/signer/keystore.ts'
import { readVerifyRequest } from '../../src/verify/input.ts'
import { toPagePayload, toTrust } from '../../src/verify/page-payload.ts'
import { parseProof } from '../../src/verify/proof.ts'
import { type Problem, type ReceiptFile, redact } from '../../src/verify/receipt.ts'
import { proofIn, shownChecks, stampWords, stateWords } from '../../src/verify/shown-checks.ts'
import { recoverSigner } from '../../src/verify/signature.ts'
import { slipLines, totalOf } from '../../src/verify/slip-lines.ts'
import { headlineOf, kindOf, summaryOf } from '../../src/verify/verdict-words.ts'
import { type Verdict, type VerifyOptions, verifyReceipt } from '../../src/verify/verify.ts'
import { anchorAnswer, signerAnswer } from '../proof/audit/paper.ts'
import { onChain, waiting } from '../verify/anchor-samples.ts'
import { proofAt, provenFile, sampleLog } from '../verify/proof-samples.ts'
import { facts, fileOf, testSigner } from '../verify/samples.ts'
import { cut } from './mutate.ts'
import { must, type Target } from './run.ts'

const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value))

/** Files as they lie about: whole, with a proof, with anchors, with parts hidden. */
const files = [
  fileOf(),
  provenFile(),
  { ...provenFile(), proof: { ...proofAt(13), anchor: onChain(13) } },
  { ...provenFile(), proof: { ...proofAt(13), anchor: waiting('pending') } },
  { ...provenFile(), receipt: redact(fileOf().receipt, ['run', 'charge', 'subject']) },
].map(asJson)

const trusts = [
  {},
  { signers: [{ address: testSigner.address }], issuers: [facts.issuer] },
  { signers: [{ address: testSigner.address, fromIndex: 0n, untilIndex: 9n }] },
]
const chains: VerifyOptions['chain'][] = ['auto', 'skip', 'require']

/** The digests of the samples: any other valid receipt would be a forgery. */
const digests = new Set(files.map((file) => (file as ReceiptFile).digest))

/** All that pages and commands do with a file that someone hands in. */
function judge(file: unknown, at: number, more: { proof?: unknown } = {}): void {
  const trust = trusts[at % trusts.length] ?? {}
  const options = { chain: chains[at % chains.length] ?? 'auto', verifiedAt: '2026-11-21' }
  const verdict = verifyReceipt({ file, ...more }, trust, options)
  must(!verdict.valid || digests.has(verdict.digest ?? ''), 'a receipt cannot be forged')
  for (const words of [kindOf, headlineOf, summaryOf, stateWords]) {
    must(typeof words(verdict) === 'string', 'words')
  }
  for (const { reason } of verdict.checks) {
    must(reason.length < 4000, 'a short reason')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal would obey those
    must(!/[\x00-\x08\x1b\u202e]/.test(reason), 'nothing that a terminal obeys')
  }
  if (verdict.receipt_id !== null) show(file as ReceiptFile, verdict)
}

function show(file: ReceiptFile, verdict: Verdict): void {
  stampWords(verdict, proofIn({ verdict, file }))
  shownChecks({ verdict, file, now: 0 })
  slipLines(file.receipt, verdict)
  totalOf(file.receipt)
  toTrust(JSON.parse(JSON.stringify(toPagePayload(file, {}, 0))))
}

/** What JSON.parse gives; files are not read by any other reader. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const log = sampleLog(40)
const answers = {
  object: 'list',
  data: [5, 13, 29].map((size) => anchorAnswer(size)),
  has_more: true,
  last_id: 'anc_x',
  log: { origin: facts.issuer, checkpoint: log.checkpoint() },
  log_owner: testSigner.address,
  consistency: log.consistency(13),
}
const isWrongAnswer = (error: unknown): boolean => error instanceof WrongAnswer

const keystore = {
  version: 3,
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
    ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
    kdf: 'pbkdf2',
    kdfparams: { dklen: 32, c: 2, prf: 'hmac-sha256', salt: 'ab0c7876052600dd703518d6fc3fe898' },
    mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
  },
}

/** Receipts, proofs, and what services and wallets say of themselves. */
export const verifyTargets: readonly Target[] = [
  {
    name: 'receipt file',
    goodJson: files,
    read: (text, prng) => judge(parsed(text), prng.below(9)),
  },
  {
    name: 'proof beside a receipt',
    goodJson: [proofAt(13), { ...proofAt(13), anchor: onChain(13, 'confirmed') }].map(asJson),
    read(text, prng) {
      const proof = parsed(text)
      const problems: Problem[] = []
      parseProof(proof, facts.id, problems)
      must(problems.length <= 20, 'few problems')
      judge(fileOf(), prng.below(9), { proof })
    },
  },
  {
    name: 'body of a verification',
    goodJson: [
      ...files,
      { id: 'rcpt_01jd7m3v5k8q2w4x6y9z0a1b2c', options: { chain: 'skip' } },
      asJson({ receipt: fileOf(), proof: proofAt(13), options: { chain: 'require' } }),
      asJson({
        receipt: provenFile(),
        checkpoint: log.checkpoint(),
        consistency: log.consistency(13),
      }),
    ],
    read(text, prng) {
      const read = readVerifyRequest(parsed(text))
      if (!read.ok || 'id' in read.request) return
      const { request } = read
      verifyReceipt(request, trusts[prng.below(3)] ?? {}, { chain: request.chain })
    },
  },
  {
    name: 'pasted receipt, id or link',
    good: [
      ...files.slice(0, 1).map((file) => JSON.stringify(file)),
      'rcpt_01jd7m3v5k8q2w4x6y9z0a1b2c',
      'https://gw.example/receipts/rcpt_01jd7m3v5k8q2w4x6y9z0a1b2c',
    ],
    read(text, prng) {
      const given = readSubmission(text, 'https://gw.example')
      if (given.kind === 'file') judge(given.file, prng.below(9))
    },
  },
  {
    name: 'signature of a receipt',
    good: [fileOf().signature],
    read(text) {
      const recovered = recoverSigner(new Uint8Array(32).fill(7), text)
      must(recovered.ok || recovered.reason !== '', 'a reason')
    },
  },
  {
    name: 'list of anchors',
    isNo: isWrongAnswer,
    goodJson: [asJson(answers)],
    read(text) {
      readAnchors(parsed(text))
      readConsistency(parsed(text))
    },
  },
  {
    name: 'checkpoint',
    isNo: isWrongAnswer,
    goodJson: [asJson(log.checkpoint())],
    read: (text) => readCheckpoint(parsed(text)),
  },
  {
    name: 'signers of a service',
    isNo: isWrongAnswer,
    goodJson: [
      asJson(signerAnswer()),
      asJson({ ...signerAnswer({ from_index: 9 }), previous: [signerAnswer({ until_index: 9 })] }),
    ],
    read: (text) => readSigners(parsed(text)),
  },
  {
    name: 'keystore',
    // Anyone who starts the server reads the words of the error.
    isNo: (error) => error instanceof Error && !/5318b4|testpassword/.test(error.message),
    goodJson: [asJson(keystore)],
    read(text) {
      // How long a key takes to derive is the file's to say, and the operator's to wait.
      if (text.length > 10_000 || /"(c|n|p|r)":[\d.e+]{5,}/.test(text)) return
      try {
        openKeystore(text, 'testpassword')
      } catch (error) {
        if (text !== JSON.stringify(keystore)) throw error
      }
    },
  },
  {
    name: 'announcement of a wallet',
    goodJson: [
      { info: { name: 'Wallet', icon: 'data:image/png;base64,AA', rdns: 'a.b', uuid: 'c' } },
    ],
    read(text) {
      const said = parsed(text)
      const detail = typeof said === 'object' && said !== null ? said : {}
      const found = readAnnounced({ ...detail, provider: { request: () => undefined } })
      must(found === undefined || found.name.length <= 40, 'a short name')
    },
  },
  {
    name: 'event stream in the browser',
    goodBytes: [Buffer.from('data: {"a":1}\n\n: ping\n\ndata: b\ndata: c\n\n')],
    async read(bytes, prng) {
      const pieces = cut(prng, bytes)
      const all = async (body: BodyInit) => await Array.fromAsync(eventsOf(new Response(body)))
      const whole = await all(Buffer.from(bytes))
      const split = await all(new ReadableStream({ start: (to) => give(to, pieces) }))
      must(JSON.stringify(split) === JSON.stringify(whole), 'the same events however it is cut')
    },
  },
]

function give(to: ReadableStreamDefaultController, pieces: readonly Uint8Array[]): void {
  for (const piece of pieces) to.enqueue(piece)
  to.close()
}
