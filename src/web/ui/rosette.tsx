/** A hash drawn as a banknote's rosette. */
import { rosetteMarkPaths, rosettePaths } from '../../kernel/rosette.ts'

/**
 * A banknote's guilloché drawn from a hash: the same hash gives the same figure, so that the eye
 * can compare what stands as text beside it. `hash` is hex, with or without 0x.
 */
export const Rosette = ({ hash, label }: { hash: string; label?: string }) => (
  <svg
    class="ros"
    viewBox="0 0 400 400"
    role={label ? 'img' : undefined}
    aria-label={label}
    aria-hidden={label ? undefined : true}
  >
    {rosettePaths(hash).map((path) => (
      <path d={path} />
    ))}
  </svg>
)

/** The outermost ring alone, coarser, for the rows of a table. */
export const RosetteMark = ({ hash }: { hash: string }) => (
  <svg class="ros tiny" viewBox="0 0 400 400" aria-hidden="true">
    {rosetteMarkPaths(hash).map((path) => (
      <path d={path} />
    ))}
  </svg>
)
