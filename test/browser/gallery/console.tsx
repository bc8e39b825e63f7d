import { Amount } from '../../../src/web/ui/amount.tsx'
import { Button, ButtonLink } from '../../../src/web/ui/button.tsx'
import { Code } from '../../../src/web/ui/copy-box.tsx'
import { Empty, Loading } from '../../../src/web/ui/empty.tsx'
import { ActionForm, AreaField, SelectField } from '../../../src/web/ui/form.tsx'
import { Meter } from '../../../src/web/ui/meter.tsx'
import { ErrorNote } from '../../../src/web/ui/notice.tsx'
import { Facts, Pad, PageHead, Panel, Split } from '../../../src/web/ui/panel.tsx'
import { Live } from '../../../src/web/ui/status.tsx'
import { account, hashOf } from './samples.tsx'

export const Console = () => (
  <>
    <PageHead title="Console">
      <div class="row">
        <SelectField
          name="model"
          label="Model"
          options={[{ value: 'a', label: 'acme/large, $15 per 1M' }]}
        />
        <SelectField
          name="key"
          label="Pay with"
          options={[{ value: 'a', label: 'research-fleet' }]}
        />
      </div>
    </PageHead>
    <Split>
      <section class="sec" aria-label="Conversation">
        <div class="talk" aria-live="polite">
          <p class="you">Why batch receipts before writing a root to the chain?</p>
          <p class="it">
            One transaction can carry any number of receipts, so the cost of anchoring is split
            between them. A Merkle root commits to every receipt in the batch, and a short path of
            hashes proves that one of them is inside without showing
          </p>
        </div>
        <ActionForm action="/api/portal/console" target="#talk" swap="beforeend" look="stack">
          <AreaField name="input" label="Message" placeholder="Write a message" />
          <div class="row apart">
            <small class="quiet">
              Holds up to <Amount nusd={76_800_000n} />. You pay only for what you use.
            </small>
            <Button look="go">Send</Button>
          </div>
        </ActionForm>
      </section>
      <Panel id="this-run" title="This run" aside={<Live>Streaming</Live>}>
        <Pad>
          <Meter used={21_400_000n} limit={76_800_000n} of="held" />
          <Facts
            of={[
              ['First token', <data value="612">612 ms</data>],
              ['Speed', <data value="84">84 tokens/s</data>],
              ['Output', <data value="1388">1,388 tokens</data>],
            ]}
          />
          <Code
            label="Same call as code"
            text={
              <>
                <i># same call from an agent</i>
                {'\n'}
                <b>curl</b> -N …/v1/chat/completions
              </>
            }
          />
        </Pad>
      </Panel>
    </Split>
    <ErrorNote
      what="The upstream stopped after 212 tokens."
      charged="You were charged $0.00318 for them, and the rest of the hold was released."
      retry={
        <ButtonLink href="/console" small>
          Retry
        </ButtonLink>
      }
      requestId="req_01k7r01x"
    />
    <section class="sec">
      <Empty
        hash={hashOf(account)}
        title="No runs in this session yet"
        action={<ButtonLink href="/console">Insert an example</ButtonLink>}
      >
        Send a message above. Each run gets a signed receipt you can keep or share.
      </Empty>
    </section>
    <section class="sec">
      <Loading what="runs" />
    </section>
  </>
)
