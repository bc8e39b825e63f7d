/** The operator's views of one model and one upstream: what can be changed, and the change. */
import type {
  ChangeProposal,
  UpstreamTest,
  WrittenModel,
  WrittenUpstream,
} from '../../../app/changes/changes-port.ts'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { Code, CopyBox } from '../../../web/ui/copy-box.tsx'
import { ActionForm, type SentForm } from '../../../web/ui/form.tsx'
import { type FormFields, FormPanel } from '../../../web/ui/form-panel.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { Facts, Pad, Panel } from '../../../web/ui/panel.tsx'
import { paths } from './admin-frame.tsx'
import { PriceReview, priceFields } from './change-prices.tsx'

export type ChangeKind = 'model' | 'upstream'

/** Ids of models have slashes, so that they stand in the query. */
export const changePath = (kind: ChangeKind, id: string): string =>
  `${paths.models}/${kind}?id=${encodeURIComponent(id)}`

export const NotWritten = ({ kind }: { kind: ChangeKind }) => (
  <Notice tone="warn" title={`The configuration file has no ${kind} of this name.`}>
    Built-in ones, and those of a server without a file that it reads again, cannot be changed here.
  </Notice>
)

type ModelProps = { id: string; of: WrittenModel; sent: SentForm }

export const ModelForm = ({ id, of, sent }: ModelProps) => (
  <FormPanel
    id="change"
    title="Name, route and prices"
    action={`${paths.models}/model`}
    of={modelFields(id, of)}
    sent={sent}
    what="Nothing was changed."
    button="Show the change"
    look="go"
    beside={<Back />}
  />
)

const modelFields = (id: string, { status, aliases, steps, prices }: WrittenModel): FormFields => ({
  id: { kind: 'hidden', value: id },
  status: {
    kind: 'choice',
    label: 'State',
    initial: status,
    options: [
      { value: 'live', label: 'Live' },
      { value: 'deprecated', label: 'Deprecated' },
      { value: 'disabled', label: 'Disabled' },
    ],
  },
  aliases: {
    label: 'Aliases',
    initial: aliases.join(', '),
    hint: 'Other names of this model, with commas.',
  },
  ...Object.fromEntries(
    steps.map(({ to, weight }, at) => [
      `weight_${at}`,
      {
        label: `Weight of ${to}`,
        inputmode: 'numeric' as const,
        initial: weight === null ? '' : String(weight),
        hint: at === 0 ? 'Steps with weights that stand together share the requests.' : undefined,
      },
    ]),
  ),
  ...priceFields(prices),
})

type UpstreamProps = { id: string; of: WrittenUpstream; sent: SentForm }

export const UpstreamForm = ({ id, of, sent }: UpstreamProps) => (
  <div class="stack">
    <Panel id="there" title="Model server">
      <Pad>
        <Facts
          of={[
            ['Address', <code class="wrap">{of.baseUrl}</code>],
            ['Key', of.keyPlace === null ? 'None, or several' : <code>{of.keyPlace}</code>],
          ]}
        />
      </Pad>
      <ActionForm action={`${paths.models}/upstream/test`} look="stack">
        <input type="hidden" name="id" value={id} />
        <p class="quiet">A test asks it for its models, which costs nothing.</p>
        <p>
          <Button>Test it</Button>
        </p>
      </ActionForm>
    </Panel>
    <FormPanel
      id="change"
      title="State and key"
      action={`${paths.models}/upstream`}
      of={upstreamFields(id, of)}
      sent={sent}
      what="Nothing was changed."
      button="Show the change"
      look="go"
      beside={<Back />}
    />
  </div>
)

const upstreamFields = (id: string, { status }: WrittenUpstream): FormFields => ({
  id: { kind: 'hidden', value: id },
  status: {
    kind: 'choice',
    label: 'State',
    initial: status,
    options: [
      { value: 'live', label: 'Live' },
      { value: 'disabled', label: 'Disabled' },
    ],
    hint: 'Disabled, it is left out of all routes; models that only it serves are disabled too.',
  },
  key: {
    label: 'New key',
    type: 'password',
    hint: 'It replaces the key, in a file of its own, and is never shown again. Empty: as it is.',
  },
})

const Back = () => (
  <ButtonLink look="plain" href={paths.models}>
    All models
  </ButtonLink>
)

/** How many models of a test are listed. */
const listedMost = 200

type TestProps = { id: string; of: UpstreamTest }

export const TestResult = ({ id, of: { check, words } }: TestProps) => {
  const { status, models, baseUrl } = check
  const count = models?.length ?? 0
  return (
    <Panel id="tested" title={`Test of ${id}`}>
      <Pad>
        <Notice tone={status === 'ok' ? 'ok' : 'bad'} title={`${id} ${words}.`}>
          {baseUrl === undefined ? null : `Its API is at ${baseUrl}.`}
        </Notice>
        {models === null ? null : (
          <Code
            id="models"
            label={`${count} models`}
            text={[
              ...models.slice(0, listedMost),
              ...(count > listedMost ? [`… and ${count - listedMost} more`] : []),
            ].join('\n')}
          />
        )}
        <p>
          <a href={changePath('upstream', id)}>Back to {id}</a>
        </p>
      </Pad>
    </Panel>
  )
}

type ReviewProps = { kind: ChangeKind; proposal: ChangeProposal; sealed: string }

export const ChangeReview = ({ kind, proposal, sealed }: ReviewProps) => {
  const { path, diff, isWritable, hasOthers, draft } = proposal
  return (
    <div class="stack">
      <PriceReview of={proposal} />
      <Panel id="review" title={`Change of ${path}`}>
        <Pad>
          <Code id="diff" label="Lines that go and come" text={diff} wrap />
          {draft.key === undefined ? null : (
            <p class="quiet">
              The key {isWritable ? 'goes' : 'belongs'} into{' '}
              <code class="wrap">{draft.key.file}</code>, which only this server may read (mode
              0600).
            </p>
          )}
          {hasOthers ? (
            <Notice tone="warn" title="Only this node is changed.">
              Make the same change in the file of each other node, then reload it with{' '}
              <code>kill -HUP</code>.
            </Notice>
          ) : null}
          {isWritable ? null : (
            <>
              <Notice tone="warn" title={`This server cannot write ${path}.`}>
                Make the change there by hand, then send the server a SIGHUP.
              </Notice>
              <CopyBox id="reload" label="The command" value="kill -HUP <pid>" />
            </>
          )}
        </Pad>
        {isWritable ? (
          <ActionForm action={`${paths.models}/${kind}/confirm`} look="stack">
            <input type="hidden" name="draft" value={sealed} />
            <p class="quiet">
              The file as it is now stays beside it as <code>{`${path}.1`}</code>.
            </p>
            <div class="row">
              <Button look="go">Change it</Button>
              <ButtonLink look="plain" href={changePath(kind, draft.wish.id)}>
                Back
              </ButtonLink>
            </div>
          </ActionForm>
        ) : null}
      </Panel>
    </div>
  )
}
