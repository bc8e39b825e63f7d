/** The panels of the settings page: kept texts, the account, colours. */
import type { ZoneName } from '../../../kernel/zone.ts'
import type { AccountRow } from '../../../storage/db/schema/schema.ts'
import { isShorter, type Retention, retentions } from '../../../storage/texts/retention.ts'
import { toChecksumAddress } from '../../../verify/address.ts'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { ConfirmPage } from '../../../web/ui/confirm.tsx'
import { CopyBox } from '../../../web/ui/copy-box.tsx'
import { ActionForm, ChoiceField } from '../../../web/ui/form.tsx'
import { Facts, Pad, PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { RosetteMark } from '../../../web/ui/rosette.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { type Theme, themes } from '../../../web/ui/theme.ts'
import { DayOf } from '../../../web/ui/when.tsx'
import { AlertsPanel } from './alerts-panel.tsx'
import { ZonePanel } from './zone.tsx'

export const settingsPath = '/dashboard/settings'
export const retentionPath = `${settingsPath}/retention`

/** Kept texts are counted up to this number. */
export const countedMax = 1000

export type SettingsView = {
  account: AccountRow
  retention: Retention
  /** Whether responses are kept for a next turn. */
  keepsResponses: boolean
  /** Runs whose texts are kept now, up to {@link countedMax}. */
  keptCount: number
  theme: Theme
  zone: ZoneName
  /** The sessions of the account, in words. */
  sessions: string
}

export const SettingsPage = ({ view }: { view: SettingsView }) => (
  <>
    <PageHead title="Settings" />
    <Split>
      <div class="stack">
        <RetentionPanel view={view} />
        <ZonePanel zone={view.zone} />
        <ThemePanel theme={view.theme} />
      </div>
      <div class="stack">
        <AccountPanel view={view} />
        <AlertsPanel view={{ low: view.account.lowBalance ?? null }} />
      </div>
    </Split>
  </>
)

type RetentionView = Pick<SettingsView, 'retention' | 'keepsResponses' | 'keptCount'>

/** How long texts are kept; also the fragment htmx gets after a change. */
export const RetentionPanel = ({
  view: { retention, keepsResponses, keptCount },
}: {
  view: RetentionView
}) => (
  <Panel
    id="retention"
    needs="settings:read"
    title="Texts of your runs"
    aside={retention === 'none' ? <Badge>Not kept</Badge> : <Badge tone="ok">Kept</Badge>}
    foot={
      keptCount === 0 ? 'No texts are stored.' : `The texts of ${countText(keptCount)} are stored.`
    }
  >
    <Pad>
      <p>
        A receipt proves the prompt and the answer without containing them. To show the texts with a
        receipt, store them here or keep them yourself.
      </p>
    </Pad>
    <ul class="choices bare">
      {retentions.map((one) => (
        <li>
          <div>
            <strong>{choices[one].name}</strong>
            <small>
              {one === 'none' && retention === 'none' && keepsResponses
                ? responsesKept
                : choices[one].means}
            </small>
          </div>
          <Choice one={one} now={retention} keepsResponses={keepsResponses} />
        </li>
      ))}
    </ul>
  </Panel>
)

/** Keeping longer applies at once; keeping less is confirmed first. */
function Choice({ one, now, keepsResponses }: ChoiceProps) {
  const isNow = one === now && (one !== 'none' || !keepsResponses)
  if (isNow) return <Badge tone="ok">Now</Badge>
  if (isShorter(one, now)) {
    return (
      <ButtonLink small href={`${retentionPath}?to=${one}`}>
        {choices[one].button}
      </ButtonLink>
    )
  }
  return (
    <ActionForm action="/api/portal/settings" target="#retention">
      <input type="hidden" name="retention" value={one} />
      <Button small>{choices[one].button}</Button>
    </ActionForm>
  )
}

type ChoiceProps = { one: Retention; now: Retention; keepsResponses: boolean }

/** The default, which keeps no texts, until an account chooses it. */
const responsesKept =
  'Now. Only answers of /v1/responses are kept, encrypted, for a day, so that a next turn can ' +
  'name them. Keep none to stop that too and delete them.'

const choices: Record<Retention, { name: string; button: string; means: string }> = {
  none: {
    name: 'Not at all',
    button: 'Keep none',
    means: 'Prompts and answers are never stored.',
  },
  '24h': {
    name: '24 hours',
    button: 'Keep 24 hours',
    means: 'Applies to runs that end from now on. Their texts are deleted after 24 hours.',
  },
  '30d': {
    name: '30 days',
    button: 'Keep 30 days',
    means: 'Applies to runs that end from now on. Their texts are deleted after 30 days.',
  },
}

const countText = (count: number): string =>
  count === 1
    ? '1 run'
    : `${count.toLocaleString('en-US')}${count === countedMax ? ' or more' : ''} runs`

/** The confirmation before texts are deleted: how many, and what stays. */
export const ConfirmRetention = ({ to, affectedCount }: ConfirmProps) => (
  <ConfirmPage
    head="Settings"
    id="shorter"
    title={to === 'none' ? 'Keep no texts?' : `Keep texts for ${choices[to].name} only?`}
    consequence={<Consequence to={to} affectedCount={affectedCount} />}
    affected={['Texts shown by a shared receipt stay until you stop sharing it.']}
    action="/api/portal/settings"
    fields={<input type="hidden" name="retention" value={to} />}
    button={
      to === 'none' && affectedCount > 0
        ? `Delete the texts of ${countText(affectedCount)}`
        : choices[to].button
    }
    keep="Cancel"
    keepHref={settingsPath}
  />
)

function Consequence({ to, affectedCount }: ConfirmProps) {
  if (affectedCount === 0) {
    return <>No stored text is deleted sooner. The change applies to runs from now on.</>
  }
  if (to === 'none') {
    return (
      <>
        This deletes <strong>the texts of {countText(affectedCount)} at once</strong> and cannot be
        undone. Their receipts stay and verify as before.
      </>
    )
  }
  return (
    <>
      The <strong>texts of {countText(affectedCount)}</strong> that would be kept longer are deleted
      in {choices[to].name}, all others as planned. Their receipts stay and verify as before.
    </>
  )
}

type ConfirmProps = {
  to: Retention
  /** Runs whose texts are deleted sooner than planned, up to {@link countedMax}. */
  affectedCount: number
}

const AccountPanel = ({ view: { account, sessions } }: { view: SettingsView }) => (
  <Panel id="account" title="Account" aside={<RosetteMark hash={account.id} />}>
    <Pad>
      <CopyBox id="address" label="Your address" value={toChecksumAddress(account.id)} />
      <p class="quiet">
        <small>Your wallet’s address is your account. There is no email and no password.</small>
      </p>
      <Facts
        of={[
          ['Since', <DayOf at={account.createdAt} />],
          ['Signed in', <a href="/dashboard/sessions">{sessions}</a>],
          ['Keys', <a href="/dashboard/keys">Manage keys</a>],
        ]}
      />
    </Pad>
  </Panel>
)

const ThemePanel = ({ theme }: { theme: Theme }) => (
  <Panel id="colours" title="Colours">
    <ActionForm action="/theme" look="stack">
      <input type="hidden" name="back" value={settingsPath} />
      <ChoiceField
        name="theme"
        label="For every page in this browser"
        value={theme}
        options={themes.map((value) => ({ value, label: themeWords[value] }))}
      />
      <p>
        <Button>Use these colours</Button>
      </p>
    </ActionForm>
  </Panel>
)

const themeWords: Record<Theme, string> = { system: 'System', light: 'Light', dark: 'Dark' }
