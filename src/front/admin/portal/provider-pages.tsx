/** The operator's views of providers: all presets, the form of one, and the change to confirm. */
import type { ProposedModel, ProviderProposal } from '../../../app/providers/desk-port.ts'
import { providers } from '../../../models/providers/presets.ts'
import { type Provider, settingsIn } from '../../../models/providers/provider.ts'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { Code, CopyBox } from '../../../web/ui/copy-box.tsx'
import { ActionForm, type SentForm } from '../../../web/ui/form.tsx'
import { type FormFields, FormPanel } from '../../../web/ui/form-panel.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { Pad, Panel } from '../../../web/ui/panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { paths } from './admin-frame.tsx'

export const addPath = `${paths.models}/add`

/** A proposed change, and what confirms it. */
export type Proposed = { proposal: ProviderProposal; sealed: string; provider: Provider }

type ListProps = { added: ReadonlySet<string>; canAdd: boolean }

export const ProviderList = ({ added, canAdd }: ListProps) => (
  <div class="stack">
    {canAdd ? null : (
      <Notice tone="warn" title="This server does not read its configuration again.">
        Add a provider with <code>counterfoil provider add</code>, then restart it.
      </Notice>
    )}
    <Panel
      id="presets"
      title="All providers"
      foot={
        <span>
          Another server is an <code>[[upstreams]]</code> of the configuration file.
        </span>
      }
    >
      <Table caption="Providers" columns={presetColumns(added)} rows={providers} />
    </Panel>
  </div>
)

const presetColumns = (added: ReadonlySet<string>): Column<Provider>[] => [
  {
    head: 'Provider',
    cell: ({ id, name }) => <a href={`${addPath}/${id}`}>{name}</a>,
  },
  {
    head: 'State',
    at: 'act',
    cell: ({ id }) => (added.has(id) ? <Badge tone="ok">Added</Badge> : null),
  },
  { head: 'Id', kind: 'optional', cell: ({ id }) => <code>{id}</code> },
  { head: 'Protocol', kind: 'optional', cell: ({ kind = 'openai' }) => protocolWords[kind] },
  { head: 'Prices', at: 'more', cell: (one) => pricesOf(one) },
]

const protocolWords = {
  openai: 'Chat Completions',
  anthropic: 'Messages',
  responses: 'Responses',
}

const pricesOf = ({ isLocal, listPrices, list, prices }: Provider): string => {
  if (isLocal) return 'Free'
  if (listPrices || list?.shape === 'openrouter') return 'Its own list'
  return prices === undefined ? 'Yours' : 'Known'
}

export const ProviderForm = ({ of, sent }: { of: Provider; sent: SentForm }) => (
  <FormPanel
    id="provider"
    title="Key and models"
    action="/api/portal/admin/providers"
    of={fieldsOf(of)}
    sent={sent}
    what="Nothing was changed."
    button="Test the key and show models"
    look="go"
    beside={
      <ButtonLink look="plain" href={addPath}>
        Another provider
      </ButtonLink>
    }
    above={
      <Pad>
        <p>
          Its list of models is asked for, which costs nothing. Nothing is written before you have
          seen the change.
        </p>
      </Pad>
    }
  />
)

const fieldsOf = (provider: Provider): FormFields => ({
  provider: { kind: 'hidden', value: provider.id },
  ...keyField(provider),
  ...Object.fromEntries(
    settingsIn(provider).map((name) => [
      name,
      { label: capitalised(name), hint: `A part of ${provider.baseUrl}` },
    ]),
  ),
  models: {
    label: 'Models to sell',
    placeholder: 'claude-*, gpt-5*',
    hint: 'Names with * for any text, with commas. Left empty: all, up to 40.',
  },
  markup: {
    label: 'Markup in percent',
    inputmode: 'decimal',
    half: true,
    hint: 'On top of the cost. Left empty: sold at cost, which margins do not know then.',
  },
  id: { label: 'Name in routes', half: true, initial: provider.id },
  input: {
    label: 'Price of input, $ / M',
    inputmode: 'decimal',
    half: true,
    hint: 'Only where none is published.',
  },
  output: {
    label: 'Price of output, $ / M',
    inputmode: 'decimal',
    half: true,
    hint: 'Only where none is published.',
  },
  context: {
    label: 'Context in tokens',
    inputmode: 'numeric',
    half: true,
    hint: 'Only where none is published.',
  },
  at: {
    label: 'Another address',
    type: 'url',
    half: true,
    placeholder: provider.baseUrl,
    hint: 'Where its API begins, if it is not there.',
  },
})

function keyField({ keyEnv = [], name, keysPage }: Provider): FormFields {
  if (keyEnv.length === 0) return {}
  const hint = keysPage ? (
    <>
      Keys are made at <a href={keysPage}>{new URL(keysPage).host}</a>. It is kept in a file of its
      own and never shown again.
    </>
  ) : (
    'It is kept in a file of its own and never shown again.'
  )
  return { key: { label: `Key of ${name}`, type: 'password', required: true, hint } }
}

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

export const ReviewPage = ({ of: { proposal, sealed, provider } }: { of: Proposed }) => {
  const { models, notes, path, isWritable, draft } = proposal
  return (
    <div class="stack">
      <Panel id="offered" title={models.length === 1 ? '1 model' : `${models.length} models`}>
        <Table caption="Models to sell" columns={modelColumns} rows={models} />
        {notes.length === 0 ? null : (
          <Pad>
            <ul class="affected quiet">
              {notes.map((note) => (
                <li>{note}</li>
              ))}
            </ul>
          </Pad>
        )}
      </Panel>
      <Panel id="change" title={`Change of ${path}`}>
        <Pad>
          <p>These lines are added behind its end. Everything else in it stays as it is.</p>
          <Code id="addition" label="Lines that are added" text={draft.addition} />
          <KeyWords draft={draft} isWritable={isWritable} />
          <OtherNodes of={proposal} />
        </Pad>
        {isWritable ? (
          <Confirmation of={{ proposal, sealed, provider }} />
        ) : (
          <Pad>
            <Notice tone="warn" title={`This server cannot write ${path}.`}>
              Copy the lines into it, put the key where they say, and send the server a SIGHUP.
            </Notice>
          </Pad>
        )}
      </Panel>
    </div>
  )
}

type KeyProps = { draft: ProviderProposal['draft']; isWritable: boolean }

const KeyWords = ({ draft: { key }, isWritable }: KeyProps) =>
  key === undefined ? null : (
    <p class="quiet">
      The key {isWritable ? 'goes' : 'belongs'} into <code class="wrap">{key.file}</code>, which
      only this server may read (mode 0600).
    </p>
  )

const OtherNodes = ({ of: { others } }: { of: ProviderProposal }) =>
  others === undefined ? null : (
    <>
      <Notice tone="warn" title="Only this node is changed.">
        Run this on each other node, then reload it with <code>kill -HUP</code>. It asks for the
        key.
      </Notice>
      <CopyBox id="others" label="The command for other nodes" value={others} />
    </>
  )

const Confirmation = ({ of: { proposal, sealed, provider } }: { of: Proposed }) => (
  <ActionForm action="/api/portal/admin/providers/confirm" look="stack">
    <input type="hidden" name="draft" value={sealed} />
    <p class="quiet">
      The file as it is now stays beside it as <code>{`${proposal.path}.1`}</code>.
    </p>
    <div class="row">
      <Button look="go">Add {provider.name}</Button>
      <ButtonLink look="plain" href={`${addPath}/${provider.id}`}>
        Back
      </ButtonLink>
    </div>
  </ActionForm>
)

const modelColumns: Column<ProposedModel>[] = [
  {
    head: 'Model',
    cell: ({ id }) => (
      <span class="name">
        <code>{id}</code>
      </span>
    ),
  },
  { head: 'Cost of input', kind: 'number', cell: ({ cost }) => cost.input },
  { head: 'Cost of output', kind: 'number', cell: ({ cost }) => cost.output },
  { head: 'Sold, input', kind: 'number', cell: ({ sale }) => sale.input },
  { head: 'Sold, output', kind: 'number', cell: ({ sale }) => sale.output },
]
