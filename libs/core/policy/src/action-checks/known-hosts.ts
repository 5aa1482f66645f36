/** Whether a host equals one of these names or is a subdomain of one. */
export const isOneOf = (host: string, names: ReadonlySet<string>): boolean => {
  const labels = host.split('.');
  return labels.some((_, from) => names.has(labels.slice(from).join('.')));
};

export const metadataHosts: ReadonlySet<string> = new Set([
  'metadata', 'metadata.google.internal', 'metadata.goog', 'instance-data', 'instance-data.ec2.internal',
  'metadata.azure.com', 'metadata.azure.internal', 'metadata.packet.net', 'metadata.platformequinix.com',
]); // prettier-ignore

/** Suffixes that no public name has, and services that turn any address into a name. */
export const privateSuffixes: ReadonlySet<string> = new Set([
  'localhost', 'localdomain', 'local', 'internal', 'intranet', 'lan', 'home', 'corp', 'home.arpa', 'test', 'invalid',
  'onion', 'svc', 'consul', 'nip.io', 'sslip.io', 'xip.io', 'lvh.me', 'localtest.me', 'rbndr.us', 'vcap.me',
]); // prettier-ignore

/** Services that collect data for anonymous users. */
export const exfiltrationHosts: ReadonlySet<string> = new Set([
  'webhook.site', 'requestbin.com', 'requestbin.net', 'pipedream.net', 'requestcatcher.com', 'beeceptor.com',
  'hookbin.com', 'requestinspector.com', 'burpcollaborator.net', 'oastify.com', 'interact.sh', 'interactsh.com',
  'oast.pro', 'oast.live', 'oast.site', 'oast.online', 'oast.fun', 'oast.me', 'dnslog.cn', 'ceye.io', 'canarytokens.com',
  'ngrok.io', 'ngrok.app', 'ngrok-free.app', 'trycloudflare.com', 'serveo.net', 'localtunnel.me', 'loca.lt',
  'transfer.sh', 'file.io', '0x0.st', 'gofile.io', 'anonfiles.com', 'catbox.moe', 'temp.sh', 'bashupload.com',
  'smee.io', 'postb.in', 'mockbin.org', 'typedwebhook.tools',
]); // prettier-ignore

export const pasteHosts: ReadonlySet<string> = new Set([
  'pastebin.com', 'hastebin.com', 'paste.ee', 'dpaste.com', 'dpaste.org', 'ghostbin.com', 'rentry.co', 'ix.io',
  'termbin.com', 'paste.rs', 'pastes.io', 'privatebin.net', 'paste.mozilla.org', 'sprunge.us', 'cl1p.net',
  'justpaste.it', 'controlc.com', 'gist.github.com', 'paste.debian.net', 'p.ip.fi', 'bpa.st', 'paste.centos.org',
]); // prettier-ignore

/** Query parameters that typically contain a prompt or a conversation. */
export const promptKeys: ReadonlySet<string> = new Set([
  'prompt', 'system', 'system_prompt', 'instruction', 'instructions', 'message', 'messages', 'conversation', 'history',
  'context', 'transcript', 'completion', 'memory', 'q_prompt', 'input', 'chat',
]); // prettier-ignore
