import { DNS_SUBDOMAIN, isDnsSubdomain } from '../../api/dns-name.ts';
import { StowageError } from '../../api/errors.ts';
import { VOLUME_NOUNS } from '../nouns.ts';

const EXAMPLE = `stowage why takes ${VOLUME_NOUNS.join('|')}: write for example stowage why volume/data1`;

/** The name in `volume NAME` or `volume/NAME`. Throws a StowageError `usage` for all else. */
export function parseTarget(kind: string, name: string | undefined): string {
  const [noun = '', inKind, ...more] = kind.split('/');
  const given = [name, inKind].filter((part) => part !== undefined);
  if (!(VOLUME_NOUNS as readonly string[]).includes(noun)) {
    throw new StowageError(
      'usage',
      `This version of stowage explains Volumes, but not ${JSON.stringify(noun)}`,
      {
        hint: EXAMPLE,
      },
    );
  }
  const [volume] = given;
  if (volume === undefined || given.length > 1 || more.length > 0) {
    throw new StowageError('usage', 'One name of a Volume is needed', { hint: EXAMPLE });
  }
  if (!isDnsSubdomain(volume)) {
    throw new StowageError(
      'usage',
      `${JSON.stringify(volume)} is no name of a Volume: a name has ${DNS_SUBDOMAIN}`,
    );
  }
  return volume;
}
