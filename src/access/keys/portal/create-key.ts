/** Creates a key from the dashboard: from JSON or from a form. */
import type { Deps } from '../../../app/deps-port.ts'
import { type Actor, whoOf } from '../../../kernel/acting.ts'
import { isId } from '../../../kernel/ids.ts'
import type { KeyRow } from '../../../storage/db/schema/schema.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { type Draft, draftOf, type Fields } from '../../../web/http/fields.ts'
import { mintBody } from '../api/key-body.ts'
import { idOfFormToken } from '../form-token.ts'
import { issueKey, type KeyRequest } from '../issue.ts'
import { matches } from '../key.ts'
import { toMintRequest } from '../key-request.ts'
import { isKeyOf } from '../owns.ts'
import { readNewKey } from './key-form.ts'
import type { RevealView } from './reveal.tsx'

export type MintedKey = { key: KeyRow; secret: string }

/**
 * Reads the body of `POST /v1/keys` or the fields of a form.
 * @throws Refusal as {@link issueKey}; of a form it names the form's fields
 */
export async function createKey(
  deps: Deps,
  acting: Actor,
  { value, isForm }: Fields,
  once?: KeyRequest['once'],
): Promise<MintedKey> {
  const { account } = acting
  const who = { account, actor: acting.wallet, acting }
  if (!isForm) {
    const wish = toMintRequest(checkBody(mintBody, value))
    return issueKey(deps, { ...wish, parentId: parentFor(acting, wish.parentId), ...who, once })
  }
  const draft = draftOf(value)
  const now = deps.clock.now()
  const { once: token } = draft
  const parentId = parentFor(acting, draft.parent_id || undefined) ?? ''
  const found = isId('key', parentId) ? await deps.keys.find(parentId) : undefined
  const parent = found && isKeyOf(found, acting) ? found : undefined
  const { mark } = deps.ids
  const id = token === undefined ? undefined : idOfFormToken(whoOf(acting), token, now, mark)
  return issueKey(deps, {
    ...readNewKey({ ...draft, parent_id: parentId }, { parent, now }),
    ...who,
    id,
    once,
  })
}

/** A key that a developer creates without a parent hangs below the top of the branch. */
const parentFor = ({ branch }: Actor, wished: string | undefined): string | undefined =>
  wished ?? branch

/** The key that this form created when it was sent before. */
export async function findMade(
  { keys, clock, ids }: Pick<Deps, 'keys' | 'clock' | 'ids'>,
  acting: Actor,
  { once }: Draft,
): Promise<KeyRow | undefined> {
  return once === undefined
    ? undefined
    : keys.find(idOfFormToken(whoOf(acting), once, clock.now(), ids.mark))
}

/** A secret with example code for a model that the key may use. */
export async function toReveal(
  { keys, clock, catalogue, settings }: Deps,
  { key, secret }: MintedKey,
  by: RevealView['by'],
): Promise<RevealView> {
  const { chain } = await keys.show(key.id, clock.now())
  const fit = catalogue
    .list()
    .find(
      ({ id, kind, status }) =>
        kind === 'chat' &&
        status === 'live' &&
        chain.every((one) => one.models.length === 0 || one.models.some((g) => matches(g, id))),
    )
  const model = fit?.id ?? key.models[0] ?? 'a-model'
  return { key, secret, baseUrl: settings.baseUrl, model, by }
}
