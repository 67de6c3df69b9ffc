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
        return { ...check, ok: true, message: `${name} is as this version brings it` };
      case 'unknown':
        return {
          ...check,
          message: `${name} was not looked at: you may not read it`,
          hint: 'Ask for the right to get customresourcedefinitions, or have someone run this who has it.',
        };
      case 'missing':
        return { ...check, message: `${name} is missing`, hint: 'Install it.', command: INSTALL };
      case 'newer':
        return {
          ...check,
          message: `${name} has ${crd.extra.join(', ')}, which this version does not know`,
          hint: 'A newer Stowage installed it: use that one here, too.',
        };
      default:
        return {
          ...check,
          message: `${name} is not as this version brings it${crd.lacks.length === 0 ? '' : `: it lacks ${crd.lacks.join(', ')}`}`,
          hint: 'Upgrade it: objects stay.',
          command: INSTALL,
        };
    }
  });
