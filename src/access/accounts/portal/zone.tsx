/** The time zone of the person: its panel in the settings, and the route that sets it. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { utcZone, type ZoneName, zoneNamed } from '../../../kernel/zone.ts'
import { takeFreeWrites } from '../../../ledger/stored-beside.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { readFields } from '../../../web/http/fields.ts'
import { Button } from '../../../web/ui/button.tsx'
import { sameOptions } from '../../../web/ui/filters.tsx'
import { ActionForm, SelectField } from '../../../web/ui/form.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { reply } from '../../../web/ui/reply.ts'
import { sessionAuth, wantsJson } from '../needs-session.ts'
import { zoneBody } from '../shapes.ts'

/** Bytes of a request body that names a zone. */
const bodyBytes = 1024

const zonePath = '/api/portal/zone'

export const zonePortal = (deps: Deps, settingsPath: string) =>
  new Elysia({ name: 'zone-portal' }).use(sessionAuth(deps)).post(
    zonePath,
    async ({ request, set, acting }) => {
      const { value } = await readFields(request, { limitBytes: bodyBytes })
      const zone = zoneNamed(checkBody(zoneBody, value).time_zone) ?? refuseZone()
      await takeFreeWrites(deps.ledger, acting.wallet, { zone })
      await deps.sessions.setZone(acting.wallet, zone)
      if (wantsJson(request)) return { object: 'time_zone' as const, time_zone: zone }
      const fragment = <ZonePanel zone={zone} />
      return reply(
        { request, set },
        { fragment, seeOther: settingsPath, done: { what: 'settings_saved' } },
      )
    },
    { needsSession: { action: 'self' }, parse: 'none' },
  )

function refuseZone(): never {
  const message = '"time_zone" must be the IANA name of a time zone, such as Europe/Berlin or UTC.'
  refuse('invalid_request', { param: 'time_zone', message })
}

/** Also the fragment htmx gets after a change. */
export const ZonePanel = ({ zone }: { zone: ZoneName }) => (
  <Panel id="zone" title="Time zone">
    <ActionForm action={zonePath} target="#zone" look="stack">
      <SelectField
        form="zone"
        name="time_zone"
        label="Times and days of your pages"
        value={zone}
        options={sameOptions(zonesWith(zone))}
      />
      <p>
        <Button>Use this time zone</Button>
      </p>
      <p class="quiet">
        <small>Files hold times of UTC; caps, plans and the API keep UTC.</small>
      </p>
    </ActionForm>
  </Panel>
)

const zonesWith = (zone: ZoneName): string[] => [
  ...new Set([utcZone, zone, ...Intl.supportedValuesOf('timeZone')]),
]
