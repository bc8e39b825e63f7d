/** Icons. */
import shapes from './icon-shapes.json'

export type IconName = keyof typeof shapes

/** A drawn sign beside words; never the only bearer of a meaning, so it is hidden from readers. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="ico" viewBox="0 0 24 24" aria-hidden="true">
    <path d={shapes[name]} />
  </svg>
)
