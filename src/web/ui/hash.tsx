/** Hashes and ids: their two ends to the eye, whole in their title. */
import { Icon } from './icon.tsx'

/** A hash or signature in hex. */
export const Hash = ({ value }: { value: string }) => (
  <code class="hex" title={value}>
    {shortHash(value)}
  </code>
)

/** One of our ids: the prefix says of what, the end tells neighbours apart. */
export const Id = ({ value }: { value: string }) => (
  <code class="hex" title={value}>
    {shortId(value)}
  </code>
)

/** As {@link Id}, with a button that copies it: in a row that is a link no text can be selected. */
export const CopyId = ({ value, href }: { value: string; href?: string }) => (
  <span class="copyid">
    {href === undefined ? <Id value={value} /> : <IdLink value={value} href={href} />}
    <button class="scripted" type="button" data-text={value} aria-label={`Copy ${value}`}>
      <Icon name="copy" />
    </button>
  </span>
)

/** As {@link Id}, and the way to it: in a table the whole row is that. */
export const IdLink = ({ value, href }: { value: string; href: string }) => (
  <a class="to" href={href}>
    <Id value={value} />
  </a>
)

/**
 * A hash that is shown whole: where its line is too short it breaks into halves, then quarters, not
 * before its last letters. A URL breaks after its slashes.
 */
export const Whole = ({ value }: { value: string }) => {
  if (value.includes('/')) return <Breaking parts={value.split(/(?<=\/)(?=[^/])/)} />
  const [first, second] = halved(value)
  return (
    <>
      <span class="half">
        <Breaking parts={halved(first)} />
      </span>
      <span class="half">
        <Breaking parts={halved(second)} />
      </span>
    </>
  )
}

const Breaking = ({ parts }: { parts: readonly string[] }) => (
  <>
    {parts.map((part, at) => (
      <>
        {at > 0 ? <wbr /> : null}
        {part}
      </>
    ))}
  </>
)

function halved(text: string): [string, string] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

export const shortHash = (hash: string): string =>
  hash.length > 14 ? `${hash.slice(0, 6)}…${hash.slice(-4)}` : hash

export function shortId(id: string): string {
  const [prefix = '', rest = ''] = id.split('_')
  return rest.length > 12 ? `${prefix}_${rest.slice(0, 4)}…${rest.slice(-6)}` : id
}
