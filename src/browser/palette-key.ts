/** Fetches the command palette when it is first asked for: by Ctrl K, Cmd K or its button. */

type Palette = { openPalette(pages: unknown): void }

export function listenForPalette(): void {
  const button = document.querySelector('[data-palette]')
  if (!(button instanceof HTMLElement)) return
  const { palette = '', pages = '[]' } = button.dataset
  const open = async (): Promise<void> => {
    const { openPalette } = (await import(palette)) as Palette
    openPalette(JSON.parse(pages))
  }
  button.addEventListener('click', open)
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
    if (event.altKey || event.shiftKey || document.querySelector('dialog[open]')) return
    event.preventDefault()
    void open()
  })
}
