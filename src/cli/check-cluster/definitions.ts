import type { Check } from '../lib/checks/report.ts';
import type { CrdSkew } from '../lib/objects/crd-skew.ts';

const INSTALL = 'stowage install --components crds';

/** Compares the installed definitions of kinds with those of this version. Pure. */
export const definitionChecks = (skews: readonly CrdSkew[]): Check[] =>
  skews.map((crd): Check => {
    const check = { check: 'definition', ok: false };
    const { name } = crd;
    switch (crd.skew) {
      case 'none':
        return { ...check, ok: true, message: `${name} is the one of this version` };
      case 'unknown':
        return {
          ...check,
          message: `${name} is not checked: you may not read it`,
          hint: 'Request permission to get customresourcedefinitions, or ask somebody who has it to run this command.',
        };
      case 'missing':
        return {
          ...check,
          message: `${name} is missing`,
          hint: 'Install the definition.',
          command: INSTALL,
        };
      case 'newer':
        return {
          ...check,
          message: `${name} has ${crd.extra.join(', ')}, which this version does not know`,
          hint: 'Use the newer version of Stowage that installed it.',
        };
      default:
        return {
          ...check,
          message: `${name} differs from the one of this version${crd.lacks.length === 0 ? '' : `: it lacks ${crd.lacks.join(', ')}`}`,
          hint: 'Upgrade the definition: objects stay.',
          command: INSTALL,
        };
    }
  });
