/**
 * Rules in CEL on the spec of a Volume: all of it stays as it is but sizes that grow, `overwrite`, `onDelete` and, where no
 * nodes share the volume, `attachPolicy`.
 *
 * They sit on the spec rather than on each field, because the rule of a field is not run when the field is added or
 * removed. They see declared fields only: those of a type that Stowage does not know can change, which does no harm.
 */
interface ValidationRule {
  rule: string;
  message: string;
}

const IMMUTABLE = ['mode', 'template', 'rawBlockDevice', 'attachableNodes', 'source', 'adopt'];

/** `path` is within the spec, and all above it is there on both sides. */
const unchanged = (path: string): string =>
  `has(self.${path}) == has(oldSelf.${path}) && (!has(self.${path}) || self.${path} == oldSelf.${path})`;

/**
 * Unchanged comes first: what is no quantity makes the rest an error, and that would refuse every update of the
 * object, also the one that takes its finalizer away. A size is a string or an integer.
 */
const grows = (path: string): string =>
  `self.${path} == oldSelf.${path} || quantity(string(self.${path})).compareTo(quantity(string(oldSelf.${path}))) >= 0`;

/** Those about the fields of a type of which both sides have one; that there is one on both sides has its own. */
const within = (type: string, rule: string): string =>
  `!has(self.${type}) || !has(oldSelf.${type}) || (${rule})`;

const kept = (field: string): ValidationRule => ({
  rule: unchanged(field),
  message: `${field} is immutable; delete the Volume and create it again`,
});

const inside = (type: string, field: string, rule: string, message: string): ValidationRule => ({
  rule: within(type, rule),
  message: `${type}.${field} ${message}`,
});

function ofType(type: string, immutable: string[]): ValidationRule[] {
  return [
    {
      rule: `has(self.${type}) == has(oldSelf.${type})`,
      message: 'the type is immutable; delete the Volume and create it again',
    },
    inside(type, 'size', grows(`${type}.size`), 'can only grow'),
    ...immutable.map((field) => inside(type, field, unchanged(`${type}.${field}`), 'is immutable')),
  ];
}

export const TRANSITION_RULES: readonly ValidationRule[] = [
  ...['nodeName', 'storageClassName'].map((field) => ({
    rule: `self.${field} == oldSelf.${field}`,
    message: `${field} is immutable; delete the Volume and create it again`,
  })),
  ...IMMUTABLE.map(kept),
  {
    rule: `!has(self.attachableNodes) || (${unchanged('attachPolicy')})`,
    message:
      'attachPolicy is immutable beside attachableNodes; delete the Volume and create it again',
  },
  ...ofType('sparseLoopDevice', ['directory', 'requireMount']),
  ...ofType('lvmLogicalVolume', ['vgName', 'thinPool']),
];
