/** The parts of the page *Set up*. */
import { Wallets } from '../../../access/accounts/pages.tsx'
import type { SetupPlace } from '../../../app/setup/desk-port.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import { receiptPath } from '../../../runs/portal/run-state.tsx'
import { toChecksumAddress } from '../../../verify/address.ts'
import { Address } from '../../../web/ui/address.tsx'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { Code, CopyBox } from '../../../web/ui/copy-box.tsx'
import { ActionForm } from '../../../web/ui/form.tsx'
import { ErrorNote, Notice } from '../../../web/ui/notice.tsx'
import { Pad, PageHead, Panel } from '../../../web/ui/panel.tsx'
import { type Step, Steps } from '../../../web/ui/steps.tsx'
import type { SetupProgress } from '../setup-progress.ts'
import { adminPath, paths } from './admin-frame.tsx'
import { StatusPanel } from './service-status.tsx'

export const setupPath = '/setup'

/** The credit that the first run is paid from, in USD. */
export const firstCredit = 5

export type SetupView =
  /** There is an operator, who is not the reader: nothing more is told. */
  | { state: 'taken' }
  /** No link that lives came along. */
  | { state: 'closed' }
  | { state: 'wallet'; baseUrl: string }
  | { state: 'claim'; account: string; place: SetupPlace; refusal?: Refusal | undefined }
  | SetupSteps

export type SetupSteps = {
  state: 'steps'
  account: string
  /** Undefined where the server runs without its file. */
  place: SetupPlace | undefined
  progress: SetupProgress
  /** A grant form of this page grants once. */
  once: string
}

export const SetupPage = ({ of: view }: { of: SetupView }) => (
  <div class="stack">
    {/* The wallets come with a heading of their own. */}
    {view.state === 'wallet' ? null : <PageHead title="Set up" />}
    <Body of={view} />
  </div>
)

function Body({ of: view }: { of: SetupView }) {
  if (view.state === 'taken') {
    return <Notice tone="ok" title="This service has an operator." />
  }
  if (view.state === 'closed') {
    return (
      <>
        <Notice tone="warn" title="Open the link that the server printed.">
          A link is good for an hour, and until there is an operator. The server prints one when it
          starts. To print a new one, run this on its machine:
        </Notice>
        <CopyBox id="setup-command" label="The command for a new link" value="counterfoil setup" />
      </>
    )
  }
  if (view.state === 'wallet') return <Wallet baseUrl={view.baseUrl} />
  if (view.state === 'claim') return <Claim of={view} />
  return <StepList of={view} />
}

const Wallet = ({ baseUrl }: { baseUrl: string }) => (
  <>
    <Notice tone="warn" title="The first wallet becomes the operator of this service.">
      It changes prices, grants credit and suspends accounts. Use a wallet that you keep.
    </Notice>
    <Wallets view={{ baseUrl, next: setupPath }} />
    <p>
      <a href={`/signin?next=${setupPath}`}>Sign by hand</a>, without a wallet in this browser.
    </p>
  </>
)

type ClaimView = Extract<SetupView, { state: 'claim' }>

const Claim = ({ of: { account, place, refusal } }: { of: ClaimView }) => (
  <Panel id="claim" title="Become the operator">
    <Pad>
      {refusal ? <ErrorNote what={refusal.message} /> : null}
      <p>
        You are signed in as <Address value={account} />. A line in <code>{place.path}</code> makes
        this wallet the operator:
      </p>
      <Code id="claim-line" label="The line" text={`+ ${place.line}`} wrap />
      {place.isWritable ? null : <ByHand of={place} />}
    </Pad>
    {place.isWritable ? (
      <ActionForm action={`${setupPath}/claim`} look="stack">
        <input type="hidden" name="account" value={toChecksumAddress(account)} />
        <p class="quiet">
          The file as it is now stays beside it as <code>{`${place.path}.1`}</code>.
        </p>
        <div class="row">
          <Button look="go">Become the operator</Button>
          <ButtonLink look="plain" href="/dashboard/sessions">
            Use another wallet
          </ButtonLink>
        </div>
      </ActionForm>
    ) : null}
  </Panel>
)

const ByHand = ({ of: place }: { of: SetupPlace }) => (
  <>
    <Notice tone="warn" title={`This server cannot write ${place.path}.`}>
      Run this where the file can be written, or add the line above its first table. Then send the
      server a SIGHUP and load this page again.
    </Notice>
    <CopyBox id="claim-command" label="The command" value={place.command} />
  </>
)

const StepList = ({ of: view }: { of: SetupSteps }) => (
  <>
    <Panel id="setup-steps" title="From here to the first verified receipt">
      <Steps of={stepsOf(view)} />
    </Panel>
    {view.place?.hasOthers ? (
      <>
        <Notice tone="warn" title="Only this node knows its operator.">
          Run this on each other node, then reload it with <code>kill -HUP</code>.
        </Notice>
        <CopyBox id="other-nodes" label="The command for other nodes" value={view.place.command} />
      </>
    ) : null}
    {view.progress.findings.length === 0 ? null : <StatusPanel findings={view.progress.findings} />}
    <p class="quiet">
      On the machine of the server <code>counterfoil doctor</code> checks more.{' '}
      <a href={adminPath}>Administration</a> shows all parts.
    </p>
  </>
)

function stepsOf({ account, progress: { providers, models, own }, once }: SetupSteps): Step[] {
  const [model] = models
  const { hasCredit = true, hasKey = true, ended } = own ?? {}
  const asked = new URLSearchParams({ model: model ?? '', input: 'Say hello.' })
  const at = (href: string, words: string, isNext: boolean) => (
    <ButtonLink small look={isNext ? 'go' : undefined} href={href}>
      {words}
    </ButtonLink>
  )
  return [
    {
      label: (
        <>
          Operator: <Address value={account} />
        </>
      ),
      done: true,
    },
    {
      label: providers.length === 0 ? 'Add a provider' : `Provider: ${named(providers)}`,
      done: providers.length > 0,
      action: at(`${paths.models}/add`, 'Add one', true),
    },
    {
      label: model === undefined ? 'Choose models and prices' : `Models: ${named(models)}`,
      done: model !== undefined,
      action: at(paths.models, 'See prices', false),
    },
    {
      label: hasCredit ? 'Credit for the first run' : `Credit your wallet with $${firstCredit}.00`,
      done: hasCredit,
      action: model === undefined ? null : <FirstCredit once={once} />,
    },
    {
      label: 'Make a key',
      done: hasKey,
      action: at('/dashboard/keys/new', 'Make one', false),
    },
    {
      label: 'First run',
      done: own === undefined || ended !== undefined,
      action:
        hasCredit && model !== undefined
          ? at(`/dashboard/console?${asked}`, 'Run one', true)
          : null,
    },
    {
      label: 'First verified receipt',
      done: own === undefined,
      action: ended ? at(receiptPath(ended.id), 'Verify it', true) : null,
    },
  ]
}

const FirstCredit = ({ once }: { once: string }) => (
  <form method="post" action={`${setupPath}/credit`}>
    <input type="hidden" name="once" value={once} />
    <Button small look="go">
      Grant it
    </Button>
  </form>
)

/** How many ids a step names. */
const namedMost = 3

const named = (ids: readonly string[]): string =>
  ids.length <= namedMost
    ? ids.join(', ')
    : `${ids.slice(0, namedMost).join(', ')} and ${ids.length - namedMost} more`
