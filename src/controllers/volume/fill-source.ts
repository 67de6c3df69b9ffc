import { populatorText } from '../../api/populator-source.ts';
import type { PopulatorSource } from '../../api/volume.ts';
import type { Fill } from '../../storage/populate/types.ts';

/**
 * Reads a decoded key of a Secret from the API server, to be sent to the host of `url`. `problem`:
 * why it cannot be read.
 */
export type SecretRead = (
  namespace: string,
  name: string,
  key: string,
  url: string,
) => Promise<{ value: string } | { problem: string }>;

/** Reports whether a value fits into a header: a line break would begin another header. */
export const isHeader = (value: string): boolean => /^[\t -~]+$/.test(value);

/**
 * Returns the source of a volume that is populated on its node, with its secret, which is read each
 * time and stored nowhere.
 * @param claimNamespace namespace of the claim; undefined for a Volume without a claim
 */
export async function fillOf(
  source: PopulatorSource,
  secret: SecretRead,
  claimNamespace?: string,
): Promise<{ fill: Fill } | { problem: string }> {
  const { builtin, namespace, options } = source;
  const { authorizationSecret: name, authorizationKey: key = '', ...words } = options;
  const fill: Fill = {
    builtin,
    what: populatorText(source),
    options: words,
    namespace: claimNamespace,
  };
  if (name === undefined) return { fill };
  const found = await secret(namespace, name, key, words.source ?? '');
  if ('problem' in found) return { problem: `${fill.what} needs ${found.problem}` };
  const value = found.value.trim();
  return isHeader(value)
    ? { fill: { ...fill, authorization: value } }
    : {
        problem: `${fill.what} needs key ${key} of Secret ${namespace}/${name}, which is not a single line`,
      };
}
