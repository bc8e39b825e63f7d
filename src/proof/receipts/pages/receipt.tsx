/** The page of a receipt: the slip, its checks, the path to the root, and how to verify it. */
import { pathSteps } from '../../../verify/path.ts'
import type { Proof } from '../../../verify/proof.ts'
import { isHidden, type ReceiptFile } from '../../../verify/receipt.ts'
import { proofIn, shownChecks, stampWords, stateWords } from '../../../verify/shown-checks.ts'
import { hiddenWords, slipLines } from '../../../verify/slip-lines.ts'
import { evidenceOf, kindOf } from '../../../verify/verdict-words.ts'
import { assetPath } from '../../../web/http/assets.ts'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { Icon } from '../../../web/ui/icon.tsx'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { Ladder } from '../../../web/ui/ladder.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { ServerWord, Slip } from '../../../web/ui/slip.tsx'
import { stageTone } from '../../../web/ui/stage.tsx'
import type { Tone } from '../../../web/ui/status.tsx'
import { Checks } from '../../../web/ui/steps.tsx'
import type { KnownEvidence } from '../../upstream-evidence/known-evidence.ts'
import { EvidencePanel } from '../../upstream-evidence/pages/evidence-panel.tsx'
import type { Judgement } from '../judge.ts'
import { VerifyWithoutUs } from './verify.tsx'

/** A receipt as one of its two doors shows it: the owner's, or everybody's. */
export type ReceiptView = {
  judged: Judgement
  baseUrl: string
  /** Of this very page, to check again. */
  path: string
  /** Of the file as shown here. */
  filePath: string
  /** Whether `/v1` returns it without a key. */
  isShared: boolean
  /** The run whose check the first steps of its owner wait for. */
  awaited?: string | undefined
  /** What the upstream signed of the run, if it signs its answers, and where its file is. */
  evidence?: { known: KnownEvidence; path: string } | undefined
  /** Above the receipt. */
  notice?: Child
  /** Beside it, below the checks. */
  aside?: Child
}

/** The slip, its checks in words, the path to the root, and how to verify it without us. */
export function ReceiptPage({ view }: { view: ReceiptView }) {
  const { judged, notice, aside, evidence } = view
  const { file, verdict } = judged
  const proof = proofIn(judged)
  return (
    <>
      {notice}
      <div class="split beside">
        <Paper judged={judged} />
        <div class="stack side">
          <Verification view={view} />
          {proof ? <PathToRoot proof={proof} judged={judged} /> : null}
          {evidence ? <EvidencePanel {...evidence} /> : null}
          {aside}
        </div>
        <div class="stack wide">
          <Texts file={file} />
          <VerifyWithoutUs
            id={file.receipt.id}
            baseUrl={view.baseUrl}
            filePath={view.filePath}
            signer={verdict.signer}
            anchor={proof?.anchor}
            isShared={view.isShared}
          />
        </div>
      </div>
    </>
  )
}

function Paper({ judged }: { judged: Judgement }) {
  const { file, verdict } = judged
  const { receipt } = file
  return (
    <Slip
      id={receipt.id}
      at={Number(receipt.issuedAt)}
      digest={verdict.digest ?? file.digest}
      lines={slipLines(receipt, verdict)}
      total={isHidden(receipt.charge) ? undefined : BigInt(receipt.charge.amount)}
      hidden={hiddenWords}
      note={noteOf(file)}
      stamp={<ServerWord of={stampWords(verdict, proofIn(judged))} />}
    />
  )
}

/** The small print of a slip. */
export function noteOf({ receipt, disclosures = {} }: ReceiptFile): string {
  if (Object.values(disclosures).some(({ value }) => value !== undefined)) {
    return 'The text on this page matches the hash, together with the salt in the file.'
  }
  const words = 'The prompt and the answer are not on this page'
  return isHidden(receipt.content)
    ? `${words}, and neither are their hashes.`
    : `${words}. The hashes let anyone who holds them prove they match.`
}

/** What of the texts may be seen here, as the text that it is. */
function Texts({ file: { disclosures = {} } }: { file: ReceiptFile }) {
  const texts = (['input', 'output'] as const).flatMap((name) => {
    const value = disclosures[name]?.value
    return value === undefined ? [] : [{ name, text: JSON.stringify(value, null, 2) }]
  })
  if (texts.length === 0) return null
  return (
    <section class="stack" aria-labelledby="texts">
      <h2 id="texts">Texts</h2>
      {texts.map(({ name, text }) => (
        <details open={text.length < 4000}>
          <summary>{name === 'input' ? 'Input, as sent' : 'Output, as answered'}</summary>
          <section class="code wrap" tabindex="0" aria-label={`The ${name}`}>
            <pre>{text}</pre>
          </section>
        </details>
      ))}
    </section>
  )
}

/** The server's own checks, which the browser's take the place of where scripts run. */
function Verification({ view: { judged, path, awaited } }: { view: ReceiptView }) {
  const { verdict, payload } = judged
  return (
    <Panel
      id="verification"
      title="Verification"
      aside={
        <span class="row">
          <span class={['st', toneOf(judged)]} id="standing">
            {stateWords(verdict)}
          </span>
          <ButtonLink href={path} small>
            Check again
          </ButtonLink>
        </span>
      }
      foot={
        <>
          <span class="slot">
            <span>Checked by the server.</span>
            <span class="unseen" id="checked-here">
              Checked in your browser.
            </span>
          </span>
          <a href="#how">How it works</a>
        </>
      }
    >
      <Checks
        id="checks"
        untilHere
        of={shownChecks(judged).map(({ result, label, detail }) => ({ result, label, detail }))}
      />
      <p class="pad quiet" id="evidence">
        <small>{evidenceOf(verdict)}</small>
      </p>
      {awaited === undefined ? null : <TakeTheWord runId={awaited} />}
      <div
        id="payload"
        hidden
        data-awaited={awaited}
        data-module={verifierPath()}
        data-evidence-module={payload.evidence && assetPath('evidence.js')}
        data-payload={JSON.stringify(payload)}
      >
        {(['ok', 'wait', 'bad'] as const).map((name) => (
          <span id={`icon-${name}`}>
            <Icon name={name} />
          </span>
        ))}
      </div>
    </Panel>
  )
}

/** A browser without script cannot check: its reader may take the server's word for the step. */
const TakeTheWord = ({ runId }: { runId: string }) => (
  <noscript>
    <form class="pad stack" method="post" action="/api/portal/overview/verify">
      <input type="hidden" name="run_id" value={runId} />
      <p class="quiet">
        <small>
          Without script your browser cannot check. You can take the server’s word, or check the
          file offline.
        </small>
      </p>
      <p>
        <Button small>Accept the server’s check</Button>
      </p>
    </form>
  </noscript>
)

/** Where the browser finds the verifier. */
export const verifierPath = (): string => assetPath('verify.js')

export function toneOf({ verdict }: Judgement): Tone {
  if (kindOf(verdict) === 'bad') return 'bad'
  return stageTone(verdict.level)
}

function PathToRoot({ proof, judged }: { proof: Proof; judged: Judgement }) {
  const { steps, root } = pathSteps(proof)
  const { level } = judged.verdict
  const isOnChain = level === 'anchored' || level === 'final'
  return (
    <Panel
      id="path"
      title="Path to the root"
      aside={
        <ButtonLink href={`/receipts/${proof.receipt_id}/proof`} small download>
          Proof JSON
        </ButtonLink>
      }
    >
      <Ladder
        rungs={steps}
        root={root}
        rootIs={isOnChain ? '= on chain' : `= signed at ${proof.size}`}
      />
    </Panel>
  )
}
