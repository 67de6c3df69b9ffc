import { useEffect, useState } from 'preact/hooks';
import { readRights } from './api.ts';
import { ActionDialog, type ActionProps } from './dialog.tsx';
import { FORMS, isJudgedEarly } from './forms.ts';
import type { ActionRights } from './protocol.ts';

/** Returns the reason why an action is not allowed; '' if it is, or if that is not known. */
const whyNot = (right: { allowed: boolean; reason: string } | undefined): string =>
  right === undefined || right.allowed ? '' : `${right.reason}.`;

export interface ActionsProps {
  label: string;
  actions: readonly Omit<ActionProps, 'store'>[];
  store: ActionProps['store'];
  /** Namespace that the presets fix, whose rights count; without it, that of the kubeconfig. */
  namespace?: string;
  /** Set if the object is gone. An open dialog stays, to show how its action ended. */
  isHidden?: boolean;
}

/** Buttons of a screen. Each opens the dialog of an action. */
export function Actions(props: ActionsProps) {
  const { label, actions, store, namespace = '', isHidden = false } = props;
  const rights = useRights(namespace);
  const [open, setOpen] = useState<number>();
  const [reason, setReason] = useState('');
  const closed = () => {
    setOpen(undefined);
    // The browser returns the focus to the button, unless that is hidden by now.
    if (isHidden) document.getElementById('heading')?.focus();
  };
  const dialog = open === undefined ? undefined : actions[open];
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields */}
      <div class="actions" role="group" aria-label={label} hidden={isHidden}>
        {actions.map(({ action, preset = {} }, index) => {
          // If the user chooses the namespace, the plan tells what is not allowed.
          const isJudged = isJudgedEarly(FORMS[action], preset);
          const why = isJudged ? whyNot(rights?.[action]) : '';
          const isOff = isJudged && (rights === undefined || why !== '');
          return (
            <span key={action}>
              <button
                type="button"
                aria-haspopup="dialog"
                aria-disabled={isOff}
                aria-describedby={why === '' ? undefined : `why-${action}`}
                title={why === '' ? undefined : why}
                onClick={() => {
                  setReason(why);
                  if (!isOff) setOpen(index);
                }}
              >
                {FORMS[action].button}
              </button>
              {why !== '' && (
                <span id={`why-${action}`} class="hidden">
                  {why}
                </span>
              )}
            </span>
          );
        })}
      </div>
      {/* Always there, so that nothing moves. */}
      <p class="reason" role="status" hidden={isHidden}>
        {reason}
      </p>
      {dialog !== undefined && <ActionDialog {...dialog} store={store} onClosed={closed} />}
    </>
  );
}

/** Returns the rights, once they are known. If they cannot be read, the API server decides. */
function useRights(namespace: string): Partial<ActionRights> | undefined {
  const [rights, setRights] = useState<Partial<ActionRights>>();
  useEffect(() => {
    let isGone = false;
    const take = (found: Partial<ActionRights>) => {
      if (!isGone) setRights(found);
    };
    readRights(namespace).then(take, () => take({}));
    return () => {
      isGone = true;
    };
  }, [namespace]);
  return rights;
}
