import { StowageError } from '../../api/errors.ts';
import type { KubeObject } from '../../api/meta.ts';

interface Version {
  name: string;
  served: boolean;
  storage: boolean;
}

/** Fields of a CustomResourceDefinition that Stowage reads. */
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
 * Returns the versions of a definition after an upgrade: Stowage's as wanted, and others unchanged,
 * since they may have stored objects. Throws a StowageError `conflict` if the storage version is
 * unknown to this program.
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
      {
        hint: 'Install with the newer version of Stowage that was installed here, or a later one.',
      },
    );
  }
  return [...ours, ...others];
}

/** Reports whether objects of a definition can be created. */
export const isEstablished = ({ status }: Definition): boolean =>
  ['Established', 'NamesAccepted'].every((type) =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === 'True'),
  );
