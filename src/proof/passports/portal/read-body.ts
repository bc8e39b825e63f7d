/** Reads the bodies and forms of a passport, and writes its form. */
import type { Json } from '../../../kernel/canonical.ts'
import { refuseField } from '../../../kernel/refusal.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { type Draft, draftOf, type Fields } from '../../../web/http/fields.ts'
import type { Static } from '../../../web/http/shape.ts'
import { everyProfileName, type Profile, type ProfileChange } from '../profile.ts'
import { bindBody, createBody, editBody } from '../shapes.ts'

/** @throws Refusal `invalid_request` with `param`. */
export function readNewPassport(sent: Fields) {
  const { handle, ...profile } = checkBody(createBody, membersOf(sent))
  const { display_name: displayName, kind } = profile
  return { ...toWish(profile), handle: handle.trim(), displayName, kind }
}

/** @throws Refusal `invalid_request` with `param`. */
export const readEdit = (sent: Fields): ProfileChange =>
  toWish(checkBody(editBody, membersOf(sent)))

/** The key that is named; undefined for null, nothing and an empty field. */
export const readKeyId = (value: Json): string | undefined =>
  checkBody(bindBody, value).key_id?.trim() || undefined

/** @throws Refusal `invalid_request` unless a key is named. */
export function readNamedKey(value: Json): string {
  const message = 'Name the key as "key_id".'
  return readKeyId(value) ?? refuseField('key_id', message)
}

/** The members of a body that are there, by their names in a profile. */
const toWish = (body: Static<typeof editBody>): ProfileChange =>
  Object.fromEntries(
    everyProfileName.flatMap(([name, member]) =>
      body[member] === undefined ? [] : [[name, body[member]]],
    ),
  )

const membersOf = ({ value, isForm }: Fields) => (isForm ? unflatten(draftOf(value)) : value)

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
export const toDraft = ({ displayName, kind, bio, links, ownerShown }: Profile): Draft => ({
  display_name: displayName,
  kind,
  bio,
  links: links.join('\n'),
  ...(ownerShown ? { show_owner: 'true' } : {}),
})
