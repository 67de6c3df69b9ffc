import type { ComponentChildren } from 'preact';
import { Notice } from '../parts.tsx';
import { volumeLink } from '../routes.ts';
import { ButtonRow } from './button-row.tsx';
import type { RunMessage } from './protocol.ts';

/** Shows the progress of an action. */
export function Running(props: {
  text: string;
  lines: readonly string[];
  onLeave(): void;
  children: ComponentChildren;
}) {
  const { text, lines, onLeave, children } = props;
  return (
    <>
      <p tabIndex={-1} data-focus>
        {text}
      </p>
      {children}
      <Log lines={lines} />
      <p class="hint">It goes on if you leave, and ends with stowage ui.</p>
      <ButtonRow>
        <button type="button" onClick={onLeave}>
          Leave it running
        </button>
      </ButtonRow>
    </>
  );
}

/** Shows how an action ended. */
export function Result(props: {
  end: Extract<RunMessage, { type: 'end' }> | undefined;
  /** Error of the request; '' if there is none. */
  problem: string;
  done: string;
  /** Set if the object still exists after the action. */
  isThere: boolean;
  lines: readonly string[];
  onClose(): void;
  children: ComponentChildren;
}) {
  const { end, problem, done, isThere, lines, onClose, children } = props;
  const { error, object, exitCode } = end ?? {};
  const title = exitCode === 0 ? done : end === undefined ? 'The end is not known' : 'It failed';
  return (
    <>
      <section tabIndex={-1} data-focus aria-label="Result">
        <Notice title={title}>
          {object !== undefined && (
            <p class="object-name">
              {object.kind}{' '}
              {object.kind === 'Volume' && isThere ? (
                <a href={volumeLink(object.name)} onClick={onClose}>
                  {object.name}
                </a>
              ) : (
                object.name
              )}
            </p>
          )}
          {error !== undefined && <p class="prose">{error.message}</p>}
          {error !== undefined && error.hint !== '' && <p class="prose">{error.hint}</p>}
          {problem !== '' && <p class="prose">{problem}</p>}
          {end === undefined && problem === '' && (
            <p>The connection ended before the command did. Look at the object itself.</p>
          )}
        </Notice>
      </section>
      {children}
      <Log lines={lines} />
      <ButtonRow>
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </ButtonRow>
    </>
  );
}

/** Lines of the command, which screen readers announce as they come. */
function Log({ lines }: { lines: readonly string[] }) {
  return (
    <div class="log" role="log" aria-label="Progress">
      <ol>
        {lines.map((line, index) => (
          <li key={index}>{line}</li>
        ))}
      </ol>
    </div>
  );
}
