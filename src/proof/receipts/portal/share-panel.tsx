/** The owner's panels beside a receipt: who sees it, and erasing its texts. */
import type { Refusal } from '../../../kernel/refusal.ts'
import type { ShareRow } from '../../../storage/db/schema/schema.ts'
import { type SectionName, sectionNames } from '../../../verify/receipt.ts'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { ConfirmPage } from '../../../web/ui/confirm.tsx'
import { CopyBox } from '../../../web/ui/copy-box.tsx'
import { ActionForm, AreaField, CheckField, ChoiceField } from '../../../web/ui/form.tsx'
import { Id } from '../../../web/ui/hash.tsx'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { ErrorNote } from '../../../web/ui/notice.tsx'
import { Pad, Panel } from '../../../web/ui/panel.tsx'
import { visibilityWords } from '../api/receipt-query.ts'
import { visibilities } from '../receipts.ts'
import { defaultSections, revealedNames, type TextName, textNames } from '../share.ts'
import { ownPath, VisibilityBadge } from './receipt-list.tsx'
import { fieldOf, type ShareForm } from './share-form.ts'

/** The data of the panels by which an owner shares or erases a receipt. */
export type OwnView = {
  id: string
  baseUrl: string
  share: ShareRow | undefined
  /** The texts that the receipt commits to. */
  committed: readonly TextName[]
  /** The texts that are stored and need no pasting. */
  kept: readonly TextName[]
  isErased: boolean
  /** The form that was refused, as it was filled in; `refusal` says why. */
  asked?: ShareForm | undefined
  refusal?: Refusal | undefined
}

const shareAction = (id: string): string => `/api/portal/receipts/${id}/share`

/**
 * The panels that share the receipt and erase its texts. They use plain forms: the verifier leaves
 * no room for htmx in the page's size budget, and every change needs a new verification.
 */
export const OwnPanels = ({ view }: { view: OwnView }) => (
  <div class="stack noprint" id="own">
    <SharePanel view={view} />
    <ErasePanel view={view} />
  </div>
)

function SharePanel({ view }: { view: OwnView }) {
  const { id, baseUrl, share } = view
  return (
    <Panel
      id="share"
      needs="receipts:share"
      title="Share"
      aside={<VisibilityBadge of={share?.visibility ?? 'private'} />}
      foot={
        <span>
          You can make it private again at any time. Copies made meanwhile cannot be recalled.
        </span>
      }
    >
      {share ? (
        <Pad>
          <CopyBox id="share-link" label="Link" value={`${baseUrl}/receipts/${id}`} />
          <div class="row">
            <ButtonLink href={`/receipts/${id}`} small>
              See what others see
            </ButtonLink>
            <ActionForm action={shareAction(id)}>
              <input type="hidden" name="visibility" value="private" />
              <Button small>Make it private</Button>
            </ActionForm>
          </div>
        </Pad>
      ) : null}
      <ShareFields view={view} />
    </Panel>
  )
}

function ShareFields({ view }: { view: OwnView }) {
  const { id, share, asked, refusal } = view
  const sections = share?.sections ?? defaultSections
  const field = refusal?.detail.param?.replace(/^(disclosures\.\w+)$/, '$1.value')
  const isInField = textNames.some((name) => fieldOf(name) === field)
  return (
    <ActionForm action={shareAction(id)} look="stack">
      {refusal && !isInField ? (
        <ErrorNote what={refusal.message} charged="Nothing was changed." />
      ) : null}
      <ChoiceField
        form="share"
        name="visibility"
        label="Who sees it"
        value={asked?.['visibility'] ?? share?.visibility ?? 'unlisted'}
        options={visibilities.map((value) => ({ value, label: visibilityWords[value] }))}
        hint="Unlisted: anyone with the link. Public: everyone, in lists too."
      />
      <fieldset class="field">
        <legend>What they see</legend>
        <input type="hidden" name="sections" value="" />
        {sectionNames.map((name) => (
          <CheckField
            form="share"
            name={`sections.${name}`}
            label={sectionWords[name]}
            checked={asked ? `sections.${name}` in asked : sections.includes(name)}
          />
        ))}
      </fieldset>
      <Reveal view={view} field={field} />
      <p>
        <Button look="go">{share ? 'Save' : 'Share'}</Button>
      </p>
    </ActionForm>
  )
}

const sectionWords: Record<SectionName, string> = {
  run: 'The run: model, duration, outcome',
  charge: 'The charge: its lines and the total',
  passport: 'The passport it was made under',
  subject: 'Who paid: your wallet and the key',
  content: 'The hashes of prompt and answer',
}

function Reveal({ view, field }: { view: OwnView; field: string | undefined }) {
  const { committed, isErased, asked, share, refusal } = view
  if (isErased) {
    return <p class="quiet">The texts of this receipt were erased: nothing is left to show.</p>
  }
  if (committed.length === 0) return null
  const shown = revealedNames(share)
  const isOpen = shown.length > 0 || textNames.some((name) => `reveal.${name}` in (asked ?? {}))
  return (
    <details open={isOpen}>
      <summary>Show the texts, too</summary>
      <div class="stack">
        {committed.map((name) => {
          const isThere = view.kept.includes(name) || shown.includes(name)
          const error = field === fieldOf(name) ? refusal?.message : undefined
          return (
            <>
              <CheckField
                form="share"
                name={`reveal.${name}`}
                label={name === 'input' ? 'Show the input' : 'Show the output'}
                checked={asked ? `reveal.${name}` in asked : shown.includes(name)}
                hint={isThere ? 'It is stored here: nothing to paste.' : notKept[name]}
              />
              {isThere ? null : <Paste name={name} value={asked?.[fieldOf(name)]} error={error} />}
            </>
          )
        })}
      </div>
    </details>
  )
}

const notKept: Record<TextName, string> = {
  input: 'It was not stored. Paste the request body below, exactly as it was sent.',
  output:
    'It was not stored. Paste [{index, message, finish_reason}] or the data of an embedding below.',
}

type PasteProps = { name: TextName; value: string | undefined; error: string | undefined }

const Paste = ({ name, value, error }: PasteProps) => (
  <AreaField
    form="share"
    name={fieldOf(name)}
    label={name === 'input' ? 'Input, as JSON' : 'Output, as JSON'}
    mono
    {...(value === undefined ? {} : { value })}
    {...(error === undefined ? {} : { error })}
  />
)

function ErasePanel({ view: { id, isErased, share } }: { view: OwnView }) {
  if (isErased) return null
  return (
    <Panel id="erase" title="Erase the texts" needs="receipts:erase">
      <Pad>
        <p>
          The receipt, its signature and its proof stay. It can never again be shown which texts
          match it.
        </p>
        {share?.visibility === 'public' ? (
          <p class="quiet">A public receipt cannot be erased. Make it private first.</p>
        ) : (
          <p>
            <ButtonLink href={`${ownPath(id)}/erase`} look="bad">
              Erase the texts…
            </ButtonLink>
          </p>
        )}
      </Pad>
    </Panel>
  )
}

/** Asks the owner to confirm the erasure and lists everything that it deletes. */
export function ErasePage({ view }: { view: OwnView }) {
  const { id, kept, share, refusal } = view
  const shown = revealedNames(share)
  const lost: Child[] = [
    'the seed that its hashes are salted with',
    ...kept.map((name) => `the ${name} that is kept`),
    ...shown.map((name) => `the ${name} that the link shows`),
  ]
  const things = lost.length === 1 ? '1 thing' : `${lost.length} things`
  return (
    <ConfirmPage
      head="Erase the texts"
      id="erase"
      title={
        <>
          Erase the texts of <Id value={id} />?
        </>
      }
      consequence={`This deletes ${things} for good and cannot be undone.`}
      affected={lost}
      refusal={refusal}
      action={`/api/portal/receipts/${id}/erase`}
      button="Erase the texts"
      keep="Keep them"
      keepHref={ownPath(id)}
    />
  )
}
