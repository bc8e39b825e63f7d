/** Walks the rows of tables by keys: j and k move, Enter opens the link of a row, Esc leaves it. */

export function walkRows(): void {
  document.addEventListener('keydown', ({ key, target, ctrlKey, metaKey, altKey }) => {
    if (ctrlKey || metaKey || altKey || document.querySelector('dialog[open]')) return
    if (target instanceof Element && target.matches('input, textarea, select')) return
    const rows = [...document.querySelectorAll<HTMLElement>('.ruled .to')].filter((row) =>
      row.checkVisibility(),
    )
    const at = rows.indexOf(document.activeElement as HTMLElement)
    if (key === 'Escape') rows[at]?.blur()
    if (key === 'j') rows[Math.min(rows.length - 1, at + 1)]?.focus()
    if (key === 'k' && at > 0) rows[at - 1]?.focus()
  })
}
