/** The field of the console that takes images and PDFs. */
import type { Model } from '../../../models/model.ts'
import { Icon } from '../../../web/ui/icon.tsx'
import { filesHint, keptName, type SentFile, takenText } from '../files.ts'
import { fileTokensOf } from '../tariff.ts'
import { Preview } from './turn-view.tsx'

type AttachProps = {
  models: readonly Model[]
  model: Model | undefined
  files: readonly SentFile[]
  /** The characters that files may have in a request. */
  room: number
}

/**
 * Files for the next message. Without script the field sends them, and those that a page already
 * has come back with a box each. The script shows them as they are chosen, pasted or dropped.
 */
export const Attach = ({ files, room }: AttachProps) => {
  return (
    <div class="attach" id="attach" data-room={room}>
      {files.length === 0 ? null : (
        <fieldset>
          <legend>Attached files</legend>
          <ul class="bare chosen">
            {files.map((file, at) => (
              <li>
                <label class="check">
                  <input
                    type="checkbox"
                    name={keptName(at)}
                    value={JSON.stringify(file)}
                    checked
                    autocomplete="off"
                  />
                  <Preview file={file} />
                </label>
              </li>
            ))}
          </ul>
        </fieldset>
      )}
      <ul class="bare chosen" id="chosen" aria-label="Attached files" hidden />
      <p class="err" id="files-fault" role="alert" />
    </div>
  )
}

/** The field of files beside the message, where a model takes any. */
export const AttachButton = ({ models, model, room }: AttachProps) => {
  const isTaken = models.some((one) => takenText(fileTokensOf(one)) !== '')
  const hint = model ? filesHint(model.name, fileTokensOf(model), room) : ''
  return (
    <div class="pick-files" hidden={!isTaken}>
      <input
        type="file"
        id="files"
        name="files"
        accept="image/png,image/jpeg,image/webp,image/gif,application/pdf"
        aria-label="Attach images or PDFs"
        aria-describedby="files-hint"
        multiple
      />
      <label class="btn plain" for="files">
        <Icon name="attach" />
        <span class="vh">Attach</span>
      </label>
      <small class="vh" id="files-hint">
        {hint}
      </small>
    </div>
  )
}
