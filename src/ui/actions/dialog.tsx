import { useEffect, useRef, useState } from 'preact/hooks';
import { RequestError } from '../api.ts';
import { useStore } from '../parts.tsx';
import type { Store } from '../store.ts';
import { planAction, runAction } from './api.ts';
import { ButtonRow } from './button-row.tsx';
import { Form } from './form.tsx';
import { FORMS, firstValues, isPlanSpent, openFields, sentFields, textsOf } from './forms.ts';
import { PlanView } from './plan.tsx';
import type { ActionName, FieldValues, PlanAnswer, RunMessage } from './protocol.ts';
import { Result, Running } from './result.tsx';

export interface ActionProps {
  action: ActionName;
  store: Store;
  /** Values that the screen knows, whose fields are not shown. */
  preset?: FieldValues;
  /** Values to begin with, which can be changed. */
  initial?: FieldValues;
}

/** Stage of a dialog. */
type Stage =
  | { stage: 'form'; problem: string; field: string }
  | { stage: 'planning' }
  /** `problem`: why the server refused to run the plan; '' if it did not. */
  | { stage: 'plan'; plan: PlanAnswer; problem: string; isSpent: boolean }
  | { stage: 'running' }
  | { stage: 'done'; end: Extract<RunMessage, { type: 'end' }> | undefined; problem: string };

/** Progress lines that are shown. */
const MOST_LINES = 200;

/**
 * Dialog of an action: fields, plan, progress and result. Nothing is sent before the user has seen
 * the plan. Escape closes it, except while the action runs.
 */
export function ActionDialog(props: ActionProps & { onClosed: () => void }) {
  const { action, store, preset = {}, initial = {}, onClosed } = props;
  const form = FORMS[action];
  const [values, setValues] = useState(() => firstValues(form, { ...initial, ...preset }));
  const fields = openFields(form, values, preset);
  const [stage, setStage] = useState<Stage>(
    fields.length > 0 ? { stage: 'form', problem: '', field: '' } : { stage: 'planning' },
  );
  const [lines, setLines] = useState<string[]>([]);
  const dialog = useRef<HTMLDialogElement>(null);
  const planning = useRef<AbortController | undefined>(undefined);
  // A browser has few connections: a dialog that is gone keeps none.
  const following = useRef<AbortController | undefined>(undefined);
  const isRunning = stage.stage === 'running';

  async function plan(next: FieldValues): Promise<void> {
    planning.current?.abort();
    const ending = new AbortController();
    planning.current = ending;
    setStage({ stage: 'planning' });
    try {
      const answer = await planAction(action, sentFields(form, next), ending.signal);
      setStage({ stage: 'plan', plan: answer, problem: '', isSpent: false });
    } catch (error) {
      if (ending.signal.aborted) return;
      const field = error instanceof RequestError ? error.field : '';
      setStage({ stage: 'form', problem: (error as Error).message, field });
    }
  }

  async function run(shown: PlanAnswer, confirm: string): Promise<void> {
    const ending = new AbortController();
    following.current = ending;
    setStage({ stage: 'running' });
    let end: Extract<RunMessage, { type: 'end' }> | undefined;
    try {
      const take = (message: RunMessage) => {
        if (message.type === 'end') end = message;
        else setLines((last) => [...last, message.text].slice(-MOST_LINES));
      };
      const fields = sentFields(form, values);
      await runAction(action, fields, shown.plan, confirm, take, ending.signal);
      setStage({ stage: 'done', end, problem: '' });
    } catch (error) {
      if (ending.signal.aborted) return;
      const problem = (error as Error).message;
      if (error instanceof RequestError) {
        // Refused before the start, so the same plan may be run later, or made again.
        setStage({ stage: 'plan', plan: shown, problem, isSpent: isPlanSpent(error.code) });
      } else setStage({ stage: 'done', end, problem });
    }
  }

  useEffect(() => {
    // The browser keeps the focus inside, and returns it when the dialog closes.
    dialog.current?.showModal();
    if (stage.stage === 'planning') void plan(values);
    return () => {
      planning.current?.abort();
      following.current?.abort();
    };
  }, []);
  useEffect(() => {
    // The first field has the focus in a form, unless one is wrong.
    if (stage.stage === 'form' && stage.problem === '') {
      dialog.current?.querySelector<HTMLElement>('input, select')?.focus();
    } else dialog.current?.querySelector<HTMLElement>('[data-focus]')?.focus();
  }, [stage.stage]);

  const change = (name: string, value: string | true | undefined) =>
    setValues(({ overwrite: _, [name]: __, ...last }) => ({
      ...last,
      ...(value !== undefined && { [name]: value }),
    }));
  const { running, done } = textsOf(form, values);
  const close = () => dialog.current?.close();
  const overwrite = (content: string) => {
    const next = { ...values, overwrite: content };
    setValues(next);
    void plan(next);
  };

  return (
    <dialog
      ref={dialog}
      class="action"
      aria-labelledby="action-title"
      onCancel={(event) => {
        if (isRunning) event.preventDefault();
      }}
      onClose={onClosed}
    >
      <h2 id="action-title">{form.title}</h2>
      <Subject preset={preset} />
      {stage.stage === 'form' && (
        <Form
          fields={fields}
          values={values}
          problem={stage.problem}
          wrong={stage.field}
          onChange={change}
          onSubmit={() => void plan(values)}
          onCancel={close}
          store={store}
        />
      )}
      {stage.stage === 'planning' && (
        <>
          <p role="status" tabIndex={-1} data-focus>
            Planning… Nothing is sent yet.
          </p>
          <ButtonRow>
            <button type="button" onClick={close}>
              Cancel
            </button>
          </ButtonRow>
        </>
      )}
      {stage.stage === 'plan' && (
        <PlanView
          plan={stage.plan}
          problem={stage.problem}
          isSpent={stage.isSpent}
          label={form.confirm}
          onConfirm={(typed) => void run(stage.plan, typed)}
          onOverwrite={overwrite}
          {...(fields.length > 0 && {
            onBack: () => setStage({ stage: 'form', problem: '', field: '' }),
          })}
          onPlan={() => void plan(values)}
          onCancel={close}
        />
      )}
      {stage.stage === 'running' && (
        <Running text={running} lines={lines} onLeave={close}>
          <Row store={store} action={action} values={values} />
        </Running>
      )}
      {stage.stage === 'done' && (
        <Result
          {...{ end: stage.end, problem: stage.problem, done, lines }}
          isThere={action !== 'deleteVolume'}
          onClose={close}
        >
          <Row store={store} action={action} values={values} />
        </Result>
      )}
    </dialog>
  );
}

/** Names what the action is for. */
function Subject({ preset }: { preset: FieldValues }) {
  const names = Object.values(preset).filter((value) => typeof value === 'string');
  return names.length === 0 ? null : <p class="object-name">{names.join(', ')}</p>;
}

/** Shows the Volume of an action live, from the feed. */
function Row(props: { store: Store; action: ActionName; values: FieldValues }) {
  const { store, action, values } = props;
  const { state } = useStore(store);
  if (!action.endsWith('Volume') || typeof values.name !== 'string') return null;
  const row = state.volumes.get(values.name);
  return (
    <p role="status">
      {row === undefined
        ? `There is no Volume ${values.name}.`
        : `Volume ${row.name}: ${row.deleting ? 'Terminating' : row.phase}${row.reason === '' ? '' : `, ${row.reason}`}`}
    </p>
  );
}
