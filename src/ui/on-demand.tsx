import type { ComponentChildren } from 'preact';
import { Age, Notice, useNow } from './parts.tsx';
import type { AnswerState } from './use-answer.ts';

/** Answer with the time of its read (RFC 3339) and remarks. */
interface Dated {
  at: string;
  note: string;
}

interface AnswerProps<T> {
  state: AnswerState<T>;
  /** Text of the button before the first answer. */
  button: string;
  /** Shown while the answer is read. */
  busy: string;
}

/** Button that reads an answer, and the age of the last one. */
export function AnswerBar<T extends Dated>({ state, button, busy }: AnswerProps<T>) {
  const { answer, isBusy, refresh } = state;
  const now = useNow();
  return (
    <>
      <button type="button" onClick={refresh} aria-disabled={isBusy}>
        {answer === undefined ? button : 'Refresh'}
      </button>
      <span class="muted" role="status">
        {isBusy && busy}
        {!isBusy && answer !== undefined && (
          <>
            read <Age value={answer.at} now={Math.max(now, Date.parse(answer.at))} /> ago
          </>
        )}
      </span>
    </>
  );
}

/** Remarks about an answer, and why there is no newer one. */
export function AnswerNotes<T extends Dated>(props: { state: AnswerState<T>; problem: string }) {
  const { answer, problem } = props.state;
  return (
    <>
      {problem !== '' && (
        <Notice title={props.problem}>
          <p class="prose">{problem}</p>
        </Notice>
      )}
      {answer !== undefined && answer.note !== '' && <p class="muted prose">{answer.note}</p>}
    </>
  );
}

/** Part of a screen that is read on demand. */
export function OnDemand<T extends Dated>(
  props: AnswerProps<T> & {
    title: string;
    id: string;
    /** Title of the error. */
    problem: string;
    /** Shown before the first answer. */
    about: ComponentChildren;
    draw: (answer: T) => ComponentChildren;
  },
) {
  const { state, button, busy, title, id, problem, about, draw } = props;
  const { answer } = state;
  return (
    <section aria-labelledby={id}>
      <div class="heading-row">
        <h2 id={id}>{title}</h2>
        <AnswerBar state={state} button={button} busy={busy} />
      </div>
      <AnswerNotes state={state} problem={problem} />
      {answer === undefined && state.problem === '' && <p class="muted">{about}</p>}
      {answer !== undefined && draw(answer)}
    </section>
  );
}
