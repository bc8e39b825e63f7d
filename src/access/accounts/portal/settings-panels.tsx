import type { AccountRow } from '../../../storage/db/schema.ts'
import { isShorter, type Retention, retentions } from '../../../storage/texts/retention.ts'
import { toChecksumAddress } from '../../../verify/address.ts'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { Confirm } from '../../../web/ui/confirm.tsx'
import { CopyBox } from '../../../web/ui/copy-box.tsx'
import { ActionForm, ChoiceField } from '../../../web/ui/form.tsx'
import { Facts, Pad, PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { RosetteMark } from '../../../web/ui/rosette.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { type Theme, themes } from '../../../web/ui/theme.ts'
import { dateText } from '../../../web/ui/when.tsx'

export const settingsPath = '/dashboard/settings'
export const retentionPath = `${settingsPath}/retention`

/** More kept texts than this are not counted. */
export const countedMax = 1000

export type SettingsView = {
  account: AccountRow
  retention: Retention
  /** Runs whose texts are kept now, up to {@link countedMax}. */
  keptCount: number
  theme: Theme
  /** Browsers that are signed in, in words. */
  sessions: string
}

export const SettingsPage = ({ view }: { view: SettingsView }) => (
  <>
    <PageHead title="Settings" />
    <Split>
      <RetentionPanel view={view} />
      <div class="stack">
        <AccountPanel view={view} />
        <ThemePanel theme={view.theme} />
      </div>
    </Split>
  </>
)

type RetentionView = Pick<SettingsView, 'retention' | 'keptCount'>

/** How long texts are kept, and what each choice means: what htmx gets after a change. */
export const RetentionPanel = ({ view: { retention, keptCount } }: { view: RetentionView }) => (
  <Panel
    id="retention"
    title="Texts of your runs"
    aside={retention === 'none' ? <Badge>Not kept</Badge> : <Badge tone="ok">Kept</Badge>}
    foot={
      keptCount === 0
        ? 'No texts are kept now.'
        : `The texts of ${countText(keptCount)} are kept now.`
    }
  >
    <Pad>
      <p>
        A receipt proves what went in and what came out without holding it. To show the texts
        themselves with a receipt, have them kept here, or keep them yourself.
      </p>
    </Pad>
    <ul class="choices bare">
      {retentions.map((one) => (
        <li>
          <div>
            <strong>{choices[one].name}</strong>
            <small>{choices[one].means}</small>
          </div>
          <Choice one={one} now={retention} />
        </li>
      ))}
    </ul>
  </Panel>
)

/** Keeping longer is done at once; keeping less is asked about first. */
function Choice({ one, now }: { one: Retention; now: Retention }) {
  if (one === now) return <Badge tone="ok">Now</Badge>
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

const choices: Record<Retention, { name: string; button: string; means: string }> = {
  none: {
    name: 'Not at all',
    button: 'Keep none',
    means: 'Nothing of a prompt or an answer is written down.',
  },
  '24h': {
    name: '24 hours',
    button: 'Keep 24 hours',
    means: 'Of runs that end from now on. A day after its end, the texts of a run are deleted.',
  },
  '30d': {
    name: '30 days',
    button: 'Keep 30 days',
    means: 'Of runs that end from now on. After 30 days the texts of a run are deleted.',
  },
}

const countText = (count: number): string =>
  count === 1
    ? '1 run'
    : `${count.toLocaleString('en-US')}${count === countedMax ? ' or more' : ''} runs`

/** Before texts are deleted: how many, and what of them stays. */
export const ConfirmRetention = ({ to, affectedCount }: ConfirmProps) => (
  <>
    <PageHead title="Settings" />
    <Confirm
      id="shorter"
      title={to === 'none' ? 'Keep no texts?' : `Keep texts for ${choices[to].name} only?`}
      consequence={<Consequence to={to} affectedCount={affectedCount} />}
      affected={['What a shared receipt shows stays until you take the share back.']}
      action="/api/portal/settings"
      fields={<input type="hidden" name="retention" value={to} />}
      button={
        to === 'none' && affectedCount > 0
          ? `Delete the texts of ${countText(affectedCount)}`
          : choices[to].button
      }
      keep="Leave it as it is"
      keepHref={settingsPath}
    />
  </>
)

function Consequence({ to, affectedCount }: ConfirmProps) {
  if (affectedCount === 0) {
    return <>No texts that are kept now are deleted sooner. It holds for runs from now on.</>
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
      The <strong>texts of {countText(affectedCount)}</strong> that would be kept for longer are
      deleted {choices[to].name} from now, others as planned. Their receipts stay and verify as
      before.
    </>
  )
}

type ConfirmProps = {
  to: Retention
  /** Runs whose texts go sooner than they would, up to {@link countedMax}. */
  affectedCount: number
}

const AccountPanel = ({ view: { account, sessions } }: { view: SettingsView }) => (
  <Panel id="account" title="Account" aside={<RosetteMark hash={account.id} />}>
    <Pad>
      <CopyBox id="address" label="Your address" value={toChecksumAddress(account.id)} />
      <p class="quiet">
        <small>Your wallet’s address is your account. There is no e-mail and no password.</small>
      </p>
      <Facts
        of={[
          ['Since', dateText(account.createdAt)],
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
        label="Of every page, in this browser"
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
