/** A hash drawn as a banknote's rosette. */
import {
  brandHash,
  rosetteHues,
  rosetteMarkPaths,
  rosettePaths,
  rosetteSize,
} from '../../verify/rosette.ts'

const box = `0 0 ${rosetteSize} ${rosetteSize}`

type RosetteProps = {
  hash: string
  label?: string
  /** In the colour of the text, without hues of its own. */
  plain?: boolean
}

/**
 * A banknote's guilloché drawn from a hash: the same hash gives the same figure in the same two
 * hues, so that the eye can compare the text beside it. `hash` is hex, with or without 0x.
 */
export const Rosette = ({ hash, label, plain }: RosetteProps) => (
  <svg
    class={['ros', plain ? false : dyeOf(hash)]}
    viewBox={box}
    role={label ? 'img' : undefined}
    aria-label={label}
    aria-hidden={label ? undefined : true}
  >
    {rosettePaths(hash).map((path) => (
      <path d={path} />
    ))}
  </svg>
)

/** The outermost ring alone, coarser, and a dot of the second hue, for the rows of a table. */
export const RosetteMark = ({ hash, plain }: Omit<RosetteProps, 'label'>) => (
  <svg class={['ros tiny', plain ? false : dyeOf(hash)]} viewBox={box} aria-hidden="true">
    {rosetteMarkPaths(hash).map((path) => (
      <path d={path} />
    ))}
    {plain ? null : <circle cx="400" cy="400" r="92" />}
  </svg>
)

/** The logo. `going`: it turns while something is in flight. */
export const Logo = ({ going }: { going?: boolean }) => (
  <svg class={['ros tiny', going ? 'going' : dyeOf(brandHash)]} viewBox={box} aria-hidden="true">
    {rosetteMarkPaths(brandHash).map((path) => (
      <path d={path} />
    ))}
    {going ? null : <circle cx="400" cy="400" r="80" />}
  </svg>
)

/** The classes of the hues: no element may carry a style of its own. */
const dyeOf = (hash: string): string => {
  const [a, b] = rosetteHues(hash)
  return `dyed a${a} b${b}`
}
