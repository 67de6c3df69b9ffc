import { useEffect, useState } from 'preact/hooks';
import type { Store } from '../store.ts';
import { readChoices } from './api.ts';
import { ButtonRow } from './button-row.tsx';
import type { FormField } from './forms.ts';
import type { Choice, FieldValues } from './protocol.ts';

const CLASSES = {
  text: 'field',
  select: 'field',
  tick: 'field tick wide',
  choices: 'field wide',
} as const;

interface FormProps {
  fields: readonly FormField[];
  values: FieldValues;
  /** Problem that the server found; '' if none. */
  problem: string;
  /** Field with the problem; '' for none. */
  wrong: string;
  store: Store;
  onChange(name: string, value: string | true | undefined): void;
  onSubmit(): void;
  onCancel(): void;
}

/** Asks for the fields of an action. */
export function Form(props: FormProps) {
  const { fields, values, problem, wrong, store, onChange, onSubmit, onCancel } = props;
  const isKnown = fields.some(({ name }) => name === wrong);
  useEffect(() => {
    if (wrong !== '') document.getElementById(`f-${wrong}`)?.focus();
  }, [wrong, problem]);
  const text = (name: string) => {
    const value = values[name];
    return typeof value === 'string' ? value : '';
  };
  return (
    <form
      method="dialog"
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {problem !== '' && !isKnown && (
        <p role="alert" class="problem" tabIndex={-1} data-focus>
          {problem}
        </p>
      )}
      {fields.map((field) => {
        const { name, hint, kind, isNeeded } = field;
        const isWrong = name === wrong;
        const shared = {
          id: `f-${name}`,
          'aria-describedby': `h-${name}`,
          'aria-invalid': isWrong,
        } as const;
        return (
          <div class={CLASSES[kind.type]} key={name}>
            <label for={`f-${name}`}>{field.label}</label>
            {kind.type === 'tick' && (
              <input
                {...shared}
                type="checkbox"
                checked={values[name] === true}
                onChange={({ currentTarget }) =>
                  onChange(name, currentTarget.checked ? true : undefined)
                }
              />
            )}
            {kind.type === 'select' && (
              <select
                {...shared}
                value={text(name)}
                onChange={({ currentTarget }) => onChange(name, currentTarget.value)}
              >
                {kind.options.map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            )}
            {(kind.type === 'text' || kind.type === 'choices') && (
              <input
                {...shared}
                type="text"
                autocomplete="off"
                autocapitalize="off"
                spellcheck={false}
                maxLength={1024}
                required={isNeeded}
                value={text(name)}
                list={name === 'node' ? 'nodes' : undefined}
                onInput={({ currentTarget }) => onChange(name, currentTarget.value)}
              />
            )}
            <p class="hint" id={`h-${name}`}>
              {isWrong ? <span class="problem">{problem}</span> : hint}
            </p>
            {kind.type === 'choices' && (
              <Choices
                of={kind.of}
                label={field.label}
                node={kind.ofNode ? text('node') : ''}
                isReady={!kind.ofNode || text('node') !== ''}
                value={text(name)}
                onChoose={(value) => onChange(name, value)}
              />
            )}
          </div>
        );
      })}
      <datalist id="nodes">
        {[...store.state.nodes.keys()].map((node) => (
          <option key={node} value={node} />
        ))}
      </datalist>
      <ButtonRow>
        <button type="submit" class="primary">
          Show the plan
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </ButtonRow>
    </form>
  );
}

/** Offers what the wizard in a terminal offers, on demand: a node may be contacted for it. */
function Choices(props: {
  of: 'device' | 'group' | 'storageClass' | 'snapshot';
  label: string;
  node: string;
  isReady: boolean;
  value: string;
  onChoose(value: string): void;
}) {
  const { of, label, node, isReady, value, onChoose } = props;
  const [found, setFound] = useState<{ choices: Choice[]; text: string }>();
  const [isBusy, setBusy] = useState(false);
  // Devices of another node are no choices.
  useEffect(() => setFound(undefined), [node]);
  const read = async () => {
    if (isBusy || !isReady) return;
    setBusy(true);
    try {
      const { choices, notes } = await readChoices(of, node, AbortSignal.timeout(150_000));
      const none = choices.length === 0 ? 'There is nothing to choose.' : '';
      setFound({ choices, text: [none, ...notes].filter(Boolean).join(' ') });
    } catch (error) {
      setFound({ choices: [], text: (error as Error).message });
    }
    setBusy(false);
  };
  return (
    <div class="choices">
      <button type="button" onClick={() => void read()} aria-disabled={isBusy || !isReady}>
        {`Find choices: ${label}`}
      </button>
      <span class="muted" role="status">
        {isBusy
          ? 'Reading…'
          : found !== undefined
            ? found.text
            : isReady
              ? ''
              : 'Choose a node first.'}
      </span>
      {found !== undefined && found.choices.length > 0 && (
        <fieldset>
          <legend>{label}</legend>
          {found.choices.map((choice) => (
            <label key={choice.value} class={choice.disabled === '' ? 'choice' : 'choice off'}>
              <input
                type="radio"
                name={`c-${of}`}
                value={choice.value}
                checked={choice.value === value}
                disabled={choice.disabled !== ''}
                onChange={() => onChoose(choice.value)}
              />
              <span>
                <code>{choice.text}</code>
                {choice.disabled !== '' && (
                  <span class="hint"> Not offered: {choice.disabled}</span>
                )}
              </span>
            </label>
          ))}
        </fieldset>
      )}
    </div>
  );
}
