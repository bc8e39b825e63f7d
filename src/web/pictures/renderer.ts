/** Starts the thread that draws pictures and sends it work; loaded with the first picture. */
import wasm from '@resvg/resvg-wasm/index_bg.wasm' with { type: 'file' }
import sansRegular from '../../../public/pictures/geist-400.ttf' with { type: 'file' }
import sansBold from '../../../public/pictures/geist-600.ttf' with { type: 'file' }
import monoRegular from '../../../public/pictures/geist-mono-400.ttf' with { type: 'file' }
import monoBold from '../../../public/pictures/geist-mono-600.ttf' with { type: 'file' }
import { embedRenderWorker } from './render-worker.macro.ts' with { type: 'macro' }

/** Messages to the thread: first the library and fonts, then one drawing at a time. */
export type ToRenderer = { wasm: ArrayBuffer; fonts: Uint8Array[] } | { svg: string }
type FromRenderer = { isReady: true } | { png: Png }

export type Png = Uint8Array<ArrayBuffer>

/** A thread that draws. */
export type Renderer = {
  /** Draws one at a time. @throws Error on a failure or timeout, after which the thread is gone. */
  draw(svg: string): Promise<Png>
  stop(): void
}

const code: string = embedRenderWorker()

/** The time limit of a picture, in ms. */
const patienceMs = 20_000

/** A thread that is ready to draw. */
export async function startRenderer(): Promise<Renderer> {
  const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))
  // A running thread does not keep the process alive.
  const thread = new Worker(address, { smol: true, ref: false })
  const stop = () => {
    thread.terminate()
    URL.revokeObjectURL(address)
  }
  try {
    const fonts = [sansRegular, sansBold, monoRegular, monoBold]
    await tell(thread, {
      wasm: await Bun.file(wasm).arrayBuffer(),
      fonts: await Promise.all(fonts.map((path) => Bun.file(path).bytes())),
    })
  } catch (error) {
    stop()
    throw error
  }
  return {
    draw: async (svg) => {
      try {
        const answer = await tell(thread, { svg })
        if ('png' in answer) return answer.png
        throw new Error('the renderer answered without a picture')
      } catch (error) {
        stop()
        throw error
      }
    },
    stop,
  }
}

/** Sends one message and waits for the answer to it. */
function tell(thread: Worker, message: ToRenderer): Promise<FromRenderer> {
  return new Promise((resolve, reject) => {
    const tooLong = setTimeout(() => reject(new Error('the renderer took too long')), patienceMs)
    thread.onmessage = ({ data }: MessageEvent<FromRenderer>) => {
      clearTimeout(tooLong)
      resolve(data)
    }
    thread.onerror = ({ message: said }) => {
      clearTimeout(tooLong)
      reject(new Error(`the renderer failed: ${said}`))
    }
    thread.postMessage(message)
  })
}
