import type { ActionName, ChoiceName, FieldValues } from './protocol.ts';

/** Field of a form. */
export interface FormField {
  name: string;
  label: string;
  /** Explains the value; '' if the label does. */
  hint: string;
  kind:
    | { type: 'text' }
    | { type: 'tick' }
    | { type: 'select'; options: readonly (readonly [value: string, text: string])[] }
    /** Choices of the server; a value can also be typed. `ofNode`: they need the field `node`. */
    | { type: 'choices'; of: ChoiceName; ofNode: boolean };
  isNeeded: boolean;
  /** Condition of the field. Default: always. */
  when?(values: FieldValues): boolean;
}

export interface ActionForm {
  /** Text of the button that opens the dialog. */
  button: string;
  title: string;
  /** Text of the button that runs the action. */
  confirm: string;
  fields: readonly FormField[];
  /** Text while it runs. */
  running: string;
  /** Explains the end of a command that succeeded. */
  done: string;
  /** Texts in place of these two if the field `force` is ticked. */
  forced?: { running: string; done: string };
  /** Field whose preset fixes the namespace of what is written. Missing: it has none. */
  namespaceFrom?: string;
}

const field = (
  name: string,
  label: string,
  kind: FormField['kind'],
  more: Partial<Pick<FormField, 'hint' | 'isNeeded' | 'when'>> = {},
): FormField => ({ name, label, kind, hint: '', isNeeded: true, ...more });

const TEXT = { type: 'text' } as const;
const isOf =
  (...types: readonly string[]) =>
  ({ type }: FieldValues): boolean =>
    typeof type === 'string' && types.includes(type);
/** Select whose first option leaves the choice to the command. */
const standard = (text: string, ...values: readonly string[]): FormField['kind'] => ({
  type: 'select',
  options: [['', text], ...values.map((value): [string, string] => [value, value])],
});
const FULL_NAME = 'NAMESPACE/NAME';
const volume = field('name', 'Volume', TEXT);
const node = field('name', 'Node', TEXT);
const snapshot = field(
  'snapshot',
  'VolumeSnapshot',
  { type: 'choices', of: 'snapshot', ofNode: false },
  { hint: FULL_NAME },
);

/** Forms of all actions. The server checks the values. */
export const FORMS: Readonly<Record<ActionName, ActionForm>> = {
  createVolume: {
    button: 'Create a Volume',
    title: 'Create a Volume',
    confirm: 'Create',
    running: 'Creating the Volume…',
    done: 'The Volume is ready.',
    fields: [
      field('name', 'Name', TEXT),
      field('node', 'Node', TEXT),
      field('type', 'Type', {
        type: 'select',
        options: [
          ['sparse', 'Sparse file'],
          ['raw', 'Disk or partition'],
          ['lvm', 'Logical volume'],
        ],
      }),
      field(
        'device',
        'Device',
        { type: 'choices', of: 'device', ofNode: true },
        { hint: 'Path on the node', when: isOf('raw') },
      ),
      field(
        'group',
        'Volume group',
        { type: 'choices', of: 'group', ofNode: true },
        { when: isOf('lvm') },
      ),
      field('thinPool', 'Thin pool', TEXT, {
        ...{ hint: 'Empty: none', isNeeded: false, when: isOf('lvm') },
      }),
      field('size', 'Size', TEXT, { hint: 'Such as 10Gi', when: isOf('sparse', 'lvm') }),
      field('storageClass', 'Storage class', {
        ...({ type: 'choices', of: 'storageClass', ofNode: true } as const),
      }),
      field('mode', 'Mode', standard('Filesystem (default)', 'Block'), { isNeeded: false }),
      field('attachPolicy', 'Attach', standard('Always (default)', 'OnDemand'), {
        isNeeded: false,
        hint: 'OnDemand is while a pod needs it',
      }),
      field('onDelete', 'On delete', standard('default of the type', 'Delete', 'Retain', 'Wipe'), {
        isNeeded: false,
        hint: 'The default is Delete for a file, and Retain for others',
      }),
    ],
  },
  deleteVolume: {
    button: 'Delete',
    title: 'Delete a Volume',
    confirm: 'Delete',
    running: 'Deleting the Volume…',
    done: 'The Volume is gone.',
    fields: [volume],
  },
  resizeVolume: {
    button: 'Expand',
    title: 'Expand a Volume',
    confirm: 'Expand',
    running: 'Expanding the Volume…',
    done: 'The Volume has its size.',
    fields: [volume, field('size', 'New size', TEXT, { hint: 'Such as 20Gi. It never shrinks' })],
  },
  retryVolume: {
    button: 'Retry',
    title: 'Retry failed work',
    confirm: 'Retry',
    running: 'Requesting a retry…',
    done: 'The retry is requested.',
    fields: [volume],
  },
  pauseVolume: {
    button: 'Pause',
    title: 'Pause the work on a Volume',
    confirm: 'Pause',
    running: 'Pausing…',
    done: 'The Volume is paused. Jobs that run already continue to their end.',
    fields: [volume],
  },
  resumeVolume: {
    button: 'Resume',
    title: 'Resume the work on a Volume',
    confirm: 'Resume',
    running: 'Resuming…',
    done: 'The Volume is no longer paused.',
    fields: [volume],
  },
  pauseNode: {
    button: 'Pause',
    title: 'Pause all work on a node',
    confirm: 'Pause',
    running: 'Pausing…',
    done: 'The node is paused. Jobs that run already continue to their end.',
    fields: [node],
  },
  resumeNode: {
    button: 'Resume',
    title: 'Resume the work on a node',
    confirm: 'Resume',
    running: 'Resuming…',
    done: 'The node is no longer paused.',
    fields: [node],
  },
  detachVolume: {
    button: 'Detach',
    title: 'Detach a Volume',
    confirm: 'Detach',
    running: 'Waiting until the Volume is detached…',
    done: 'The Volume is detached.',
    forced: {
      running: 'Force-detaching the Volume…',
      done: 'The Volume is force-detached. Nothing was verified on the node.',
    },
    fields: [
      volume,
      field('node', 'Node', TEXT),
      field(
        'force',
        'Force-detach from a dead node, without verification',
        { type: 'tick' },
        {
          isNeeded: false,
        },
      ),
    ],
  },
  createSnapshot: {
    button: 'Take a snapshot',
    title: 'Take a snapshot',
    confirm: 'Take it',
    running: 'Taking the snapshot…',
    done: 'The snapshot is ready.',
    namespaceFrom: 'claim',
    fields: [
      field('claim', 'Claim', TEXT),
      field('snapshot', 'New VolumeSnapshot', TEXT, {
        hint: `${FULL_NAME}, in the namespace of the claim`,
      }),
      field('class', 'VolumeSnapshotClass', TEXT, { isNeeded: false, hint: 'Empty: the default' }),
    ],
  },
  restoreSnapshot: {
    button: 'Restore a snapshot',
    title: 'Restore a snapshot',
    confirm: 'Restore',
    running: 'Creating the claim…',
    done: 'The claim is created.',
    namespaceFrom: 'to',
    fields: [
      snapshot,
      field('to', 'New claim', TEXT, { hint: `${FULL_NAME}, also in another namespace` }),
      field('size', 'Size', TEXT, { isNeeded: false, hint: 'Empty: that of the snapshot' }),
      field('storageClass', 'Storage class', TEXT, {
        isNeeded: false,
        hint: 'Empty: that of the original claim',
      }),
      field('mode', 'Mode', standard('that of the snapshot', 'Filesystem', 'Block'), {
        isNeeded: false,
      }),
    ],
  },
  grantSnapshot: {
    button: 'Grant a snapshot',
    title: 'Grant a snapshot to another namespace',
    confirm: 'Grant',
    running: 'Granting…',
    done: 'The grant exists.',
    namespaceFrom: 'snapshot',
    fields: [
      { ...snapshot, hint: `${FULL_NAME}, or NAMESPACE/* for all of a namespace` },
      field('to', 'Namespace that may use it', TEXT),
      field('for', 'For', standard('claims and links', 'claims', 'links'), { isNeeded: false }),
    ],
  },
  revokeGrant: {
    button: 'Revoke a grant',
    title: 'Revoke a grant',
    confirm: 'Revoke',
    running: 'Revoking…',
    done: 'The grant is gone. Volumes created under it stay.',
    namespaceFrom: 'grant',
    fields: [field('grant', 'ReferenceGrant', TEXT, { hint: FULL_NAME })],
  },
};

/** Returns the texts of a form for these values. Pure. */
export const textsOf = (
  form: ActionForm,
  { force }: FieldValues,
): Pick<ActionForm, 'running' | 'done'> => (force === true && form.forced) || form;

/**
 * Reports whether the namespace of an action is known before its fields are filled: it writes in
 * none, or in the one that its button fixes. Pure.
 */
export const isFixedEarly = (
  { namespaceFrom }: Pick<ActionForm, 'namespaceFrom'>,
  preset: FieldValues,
): boolean => namespaceFrom === undefined || preset[namespaceFrom] !== undefined;

/** Reports whether a refusal to run a plan means that the server has forgotten it. Pure. */
export const isPlanSpent = (code: string): boolean => ['no-plan', 'not-confirmed'].includes(code);

/** Returns the fields of a form that apply, with values of the button's own left out. Pure. */
export const openFields = (
  { fields }: ActionForm,
  values: FieldValues,
  preset: FieldValues,
): FormField[] =>
  fields.filter(({ name, when }) => preset[name] === undefined && (when?.(values) ?? true));

/** Returns the values to send: those of fields that apply, and that are not empty. Pure. */
export function sentFields(form: ActionForm, values: FieldValues): FieldValues {
  const sent: Record<string, string | true> = {};
  for (const { name, when } of form.fields) {
    const value = values[name];
    const text = typeof value === 'string' ? value.trim() : value;
    if (text !== undefined && text !== '' && (when?.(values) ?? true)) sent[name] = text;
  }
  // Content that a plan found has no field: the user ticks it in the plan.
  const { overwrite } = values;
  if (overwrite !== undefined && values.type !== 'sparse') sent.overwrite = overwrite;
  return sent;
}

/** Returns the first values of a form: those of the button, and the first option of selects. */
export function firstValues({ fields }: ActionForm, preset: FieldValues): FieldValues {
  const values: Record<string, string | true> = {};
  for (const { name, kind } of fields)
    if (kind.type === 'select') values[name] = kind.options[0]?.[0] ?? '';
  return { ...values, ...preset };
}
