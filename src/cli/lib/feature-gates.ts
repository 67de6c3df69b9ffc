import { InvalidArgumentError } from 'commander';

/**
 * Returns a parser of `Gate=true,Other=false`, also given several times, as in programs of
 * Kubernetes. The parser returns only the given gates. An unknown gate, which is not in `known`,
 * throws commander's InvalidArgumentError.
 */
export const featureGates =
  <Gates extends Readonly<Record<string, boolean>>>(known: Gates) =>
  (text: string, before: Partial<Gates> = {}): Partial<Gates> => {
    const result: Record<string, boolean> = {};
    for (const gate of text.split(',')) {
      const [name = '', value, ...more] = gate.split('=');
      if (!Object.hasOwn(known, name)) {
        throw new InvalidArgumentError(
          `${JSON.stringify(name)} is not a feature gate: known is ${Object.keys(known).join(', ')}.`,
        );
      }
      if ((value !== 'true' && value !== 'false') || more.length > 0) {
        throw new InvalidArgumentError(
          `Write ${name}=true or ${name}=false, with commas between gates.`,
        );
      }
      result[name] = value === 'true';
    }
    return { ...before, ...(result as Partial<Gates>) };
  };
