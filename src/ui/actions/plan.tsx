import { useState } from 'preact/hooks';
import { Code, Notice } from '../parts.tsx';
import { ButtonRow } from './button-row.tsx';
import type { PlanAnswer } from './protocol.ts';

interface PlanProps {
  plan: PlanAnswer;
  /** Reason why the server refused to run it; '' if it did not. */
  problem: string;
  /** Set if it cannot be run any more. */
  isSpent: boolean;
  /** Text of the button that runs it. */
  label: string;
  onConfirm(typed: string): void;
  /** Plans again, with consent to overwrite this content. */
  onOverwrite(content: string): void;
  /** Missing if there are no fields to go back to. */
  onBack?(): void;
  onPlan(): void;
  onCancel(): void;
}

const VERBS = { create: 'Creates', change: 'Changes', delete: 'Deletes' } as const;

/** Shows what would be sent, and asks for the consent that a terminal asks for, too. */
export function PlanView(props: PlanProps) {
  const { plan, problem, isSpent, label, onConfirm, onOverwrite, onBack, onPlan, onCancel } = props;
  const { writes, losses, question, confirm, steps, notes, refusal, command } = plan;
  const [typed, setTyped] = useState('');
  const [isSent, setSent] = useState(false);
  const isRunnable = plan.plan !== '' && !isSpent;
  const isReady = isRunnable && typed === confirm && !isSent;
  const send = () => {
    if (!isReady) return;
    setSent(true);
    onConfirm(typed);
  };
  return (
    <form
      method="dialog"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {problem !== '' && (
        <div role="alert" tabIndex={-1} data-focus>
          <Notice title="Nothing was done">
            <p class="prose">{problem}</p>
          </Notice>
        </div>
      )}
      <section tabIndex={-1} data-focus aria-label="Plan">
        {refusal !== undefined && (
          <Notice title="This is refused">
            <p class="prose">{refusal.message}</p>
            {refusal.hint !== '' && <p class="prose">{refusal.hint}</p>}
          </Notice>
        )}
        {refusal === undefined && plan.plan === '' && (
          <Notice title="There is nothing to do">
            {notes.map((note) => (
              <p key={note}>{note}</p>
            ))}
          </Notice>
        )}
        {plan.plan !== '' && (
          <>
            {losses.length > 0 && (
              <div class="notice loss">
                <p class="notice-title">Data is lost</p>
                {losses.map((loss) => (
                  <p key={loss}>{loss}</p>
                ))}
              </div>
            )}
            <ul class="writes">
              {writes.map(({ verb, kind, name }) => (
                <li key={`${kind} ${name}`}>
                  {VERBS[verb]} {kind} <span class="object-name">{name}</span>
                </li>
              ))}
              {writes.length === 0 && <li>Waits, and changes nothing by itself.</li>}
            </ul>
            {'found' in steps && steps.found.length > 0 && (
              <section aria-label="Steps on the node">
                <h3>Steps on the node</h3>
                <ol>
                  {steps.found.map((step, index) => (
                    <li key={index}>{step}</li>
                  ))}
                </ol>
              </section>
            )}
            {'missing' in steps && steps.missing !== '' && (
              <p class="muted">The steps on the node are not known: {steps.missing}</p>
            )}
            {notes.map((note) => (
              <p class="muted" key={note}>
                {note}
              </p>
            ))}
            {writes.map(
              ({ kind, name, manifest }) =>
                manifest !== '' && (
                  <details key={`${kind} ${name}`}>
                    <summary>What is sent</summary>
                    <Code text={manifest} label={`manifest of ${name}`} />
                  </details>
                ),
            )}
          </>
        )}
      </section>
      {refusal !== undefined && refusal.overwrite !== '' && (
        <Overwrite content={refusal.overwrite} onOverwrite={onOverwrite} />
      )}
      <h3>The same in a terminal</h3>
      <Code text={command} label="command line" />
      {isRunnable && confirm !== '' && (
        <div class="field">
          <label for="f-confirm">
            {question === '' ? 'Confirm' : question} Type <b class="object-name">{confirm}</b>
          </label>
          <input
            id="f-confirm"
            type="text"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        </div>
      )}
      <ButtonRow>
        {isRunnable && (
          <button
            type="submit"
            class={losses.length > 0 ? 'primary danger' : 'primary'}
            aria-disabled={!isReady}
          >
            {label}
          </button>
        )}
        {!isRunnable && (
          <button type="button" class="primary" onClick={onPlan}>
            Plan again
          </button>
        )}
        {onBack !== undefined && (
          <button type="button" onClick={onBack}>
            Back
          </button>
        )}
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </ButtonRow>
    </form>
  );
}

/** Asks for consent to overwrite exactly what the node found. */
function Overwrite(props: { content: string; onOverwrite(content: string): void }) {
  const { content, onOverwrite } = props;
  const [isTicked, setTicked] = useState(false);
  return (
    <div class="notice loss">
      <label class="choice">
        <input
          type="checkbox"
          checked={isTicked}
          onChange={({ currentTarget }) => setTicked(currentTarget.checked)}
        />
        <span>
          Overwrite <code>{content}</code>, and nothing else
        </span>
      </label>
      <button
        type="button"
        aria-disabled={!isTicked}
        onClick={() => {
          if (isTicked) onOverwrite(content);
        }}
      >
        Plan with overwriting
      </button>
    </div>
  );
}
