import { linkOf } from './routes.ts';

/** Shows an object as a link to its screen, if there is one. */
export function ObjectLink({ kind, name, text }: { kind: string; name: string; text: string }) {
  const link = linkOf(kind, name);
  return link === undefined ? <span>{text}</span> : <a href={link}>{text}</a>;
}

/** Shows objects as links, one a line. */
export function ObjectLinks({ objects }: { objects: readonly { kind: string; name: string }[] }) {
  if (objects.length === 0) return <>–</>;
  return (
    <ul class="plain">
      {objects.map(({ kind, name }) => (
        <li key={`${kind} ${name}`}>
          <ObjectLink
            kind={kind}
            name={name}
            text={kind === 'PersistentVolumeClaim' ? name : `${kind} ${name}`}
          />
        </li>
      ))}
    </ul>
  );
}

/** Shows a Volume as a link; a dash without one. */
export function VolumeName({ name }: { name: string }) {
  return name === '' ? <>–</> : <ObjectLink kind="Volume" name={name} text={name} />;
}
