/** Reads the bodies and forms of a passport, and writes its form. */
import type { Json } from '../../../kernel/canonical.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { type Draft, draftOf, type Fields } from '../../../web/http/fields.ts'
import type { Kind, ProfileWish } from '../profile.ts'
import { bindBody, createBody, editBody } from '../shapes.ts'

/** @throws Refusal `invalid_request` with `param`. */
export function readNewPassport(sent: Fields) {
  const body = checkBody(createBody, sent.isForm ? unflatten(draftOf(sent.value)) : sent.value)
  const { handle, display_name: displayName, kind, ...more } = body
  return { handle: handle.trim(), displayName, kind, ...toWish(more) }
}

/** @throws Refusal `invalid_request` with `param`. */
export function readEdit(sent: Fields): ProfileWish {
  const body = checkBody(editBody, sent.isForm ? unflatten(draftOf(sent.value)) : sent.value)
  const { display_name: displayName, kind, ...more } = body
  return {
    ...(displayName === undefined ? {} : { displayName }),
    ...(kind === undefined ? {} : { kind }),
    ...toWish(more),
  }
}

/** The key that is named; undefined for null, nothing and an empty field. */
export const readKeyId = (value: Json): string | undefined =>
  checkBody(bindBody, value).key_id?.trim() || undefined

/** @throws Refusal `invalid_request` unless a key is named. */
export function readNamedKey(value: Json): string {
  const message = 'Name the key as "key_id".'
  return readKeyId(value) ?? refuse('invalid_request', { param: 'key_id', message })
}

type Rest = { bio?: string; links?: string[]; show_owner?: boolean }

const toWish = ({ bio, links, show_owner: ownerShown }: Rest): ProfileWish => ({
  ...(bio === undefined ? {} : { bio }),
  ...(links === undefined ? {} : { links }),
  ...(ownerShown === undefined ? {} : { ownerShown }),
})

/** A form's fields as the JSON body has them: links one a line, a box that is absent is empty. */
function unflatten(draft: Draft): Record<string, unknown> {
  const { links, show_owner: shown, show_owner_from: hasBox, ...texts } = draft
  return {
    ...texts,
    ...(links === undefined ? {} : { links: links.split(/\s+/).filter((link) => link !== '') }),
    ...(hasBox === undefined && shown === undefined ? {} : { show_owner: shown === 'true' }),
  }
}

/** A passport as its form shows it. */
export const toDraft = (profile: {
  displayName: string
  kind: Kind
  bio: string
  links: readonly string[]
  ownerShown: boolean
}): Draft => ({
  display_name: profile.displayName,
  kind: profile.kind,
  bio: profile.bio,
  links: profile.links.join('\n'),
  ...(profile.ownerShown ? { show_owner: 'true' } : {}),
})
