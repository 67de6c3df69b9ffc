import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { readRights } from './api.ts';
import { ActionDialog, type ActionProps } from './dialog.tsx';
import { FORMS, isFixedEarly } from './forms.ts';
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
  const ownRights = useRights('');
  // Kept as it was opened: its own change may replace the button.
  const [open, setOpen] = useState<Omit<ActionProps, 'store'>>();
  const [reason, setReason] = useState('');
  const group = useRef<HTMLDivElement>(null);
  const wasOpen = useRef(false);
  useLayoutEffect(() => {
    if (open !== undefined) wasOpen.current = true;
    if (!isHidden || open !== undefined || !wasOpen.current) return;
    // The browser returned the focus to a button, which is hidden now.
    const { activeElement, body } = document;
    if (activeElement === body || group.current?.contains(activeElement))
      document.getElementById('heading')?.focus();
  }, [isHidden, open]);
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields */}
      <div class="actions" role="group" aria-label={label} hidden={isHidden} ref={group}>
        {actions.map((each, index) => {
          const { action, preset = {} } = each;
          // If the user chooses the namespace, a right in either one is enough to plan.
          const isFixed = isFixedEarly(FORMS[action], preset);
          const known = isFixed ? [rights] : [rights, ownRights];
          const reasons = known.map((found) => whyNot(found?.[action]));
          const why = reasons.includes('') ? '' : (reasons.at(-1) ?? '');
          const isOff = why !== '' || known.includes(undefined);
          return (
            // A button that replaces another one, such as Resume, keeps the focus.
            <span key={index}>
              <button
                type="button"
                aria-haspopup="dialog"
                aria-disabled={isOff}
                aria-describedby={why === '' ? undefined : `why-${action}`}
                title={why === '' ? undefined : why}
                onClick={() => {
                  setReason(why);
                  if (!isOff) setOpen(each);
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
      {open !== undefined && (
        <ActionDialog {...open} store={store} onClosed={() => setOpen(undefined)} />
      )}
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
