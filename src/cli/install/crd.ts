import { StowageError } from '../../api/errors.ts';
import type { KubeObject } from '../../api/meta.ts';

interface Version {
  name: string;
  served: boolean;
  storage: boolean;
}

/** Of a CustomResourceDefinition, what is read here. */
export interface Definition extends KubeObject {
  spec: {
    group: string;
    names: { plural: string; kind: string };
    scope: string;
    versions: Version[];
  };
  status?: {
    storedVersions?: string[];
    conditions?: { type: string; status: string; message?: string }[];
  };
}

/**
 * The versions of a definition after an upgrade: ours as wanted, and others as they are, for objects may be stored in
 * them. Throws a StowageError `conflict` where objects are stored in a version that this program does not know.
 */
export function versionsAfter(current: Definition, wanted: Definition): Version[] {
  const ours = wanted.spec.versions;
  const others = current.spec.versions.filter(
    ({ name }) => !ours.some((version) => version.name === name),
  );
  const newer = others.find(({ storage }) => storage);
  if (newer !== undefined) {
    throw new StowageError(
      'conflict',
      `${current.spec.names.kind}s are stored as ${newer.name}, which this version of Stowage does not know`,
      { hint: 'A newer Stowage was installed here: install with that one, or a later one.' },
    );
  }
  return [...ours, ...others];
}

/** Whether objects of a definition can be made. */
export const isEstablished = ({ status }: Definition): boolean =>
  ['Established', 'NamesAccepted'].every((type) =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === 'True'),
  );
