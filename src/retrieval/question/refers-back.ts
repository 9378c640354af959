/**
 * Whether a question is about what the assistant said: "remind me", "you recommended", "our previous conversation". If
 * so, the assistant's messages rank higher, else the user's.
 */

/** People refer back at the beginning of a question; the rest may be pasted text. */
const READ_CHARACTERS = 2_000;

const PATTERNS: readonly RegExp[] = [
  // English. "Remind me to …" is a task; "would you recommend" asks for something new.
  /\b(?:remind me(?! to\b)|refresh my memory|jog my memory)/,
  /\byou(?:['’]ve| have| had)?(?: also| just| once| already| earlier| previously| originally)? (?:mentioned|told|said|recommended|suggested|provided|gave|given|listed|advised|proposed|explained|described|wrote|written|created|generated|shared|showed|shown|outlined|cited|came up with|pointed out)\b/,
  /\bdid you (?:\w+ )?(?:say|tell|mention|recommend|suggest|advise|propose|give|list|call|describe|explain|write)\b/,
  /\b(?:were|was) you (?:saying|telling|recommending|suggesting|describing)\b/,
  /\b(?:our (?:previous|last|earlier|past|prior) (?:conversation|chat|discussion|session|talk|exchange)|the (?:previous|last|earlier) (?:conversation|chat))s?\b/,
  /\byour (?:previous|last|earlier|past|prior) (?:answer|reply|response|message|suggestion|recommendation|advice|list)s?\b/,
  /\bwe (?:\w+ )?(?:discussed|talked about|spoke about|chatted about|went over|came up with|agreed on|decided on)\b/,
  // German
  /erinner(?:e|st|n sie)? mich|hast du (?:mir )?.{0,60}(?:gesagt|erwähnt|empfohlen|vorgeschlagen|erzählt|geraten)/,
  /\bdu (?:mir )?.{0,40}(?:gesagt|erwähnt|empfohlen|vorgeschlagen|erzählt|geraten) has?t/,
  /\bunser(?:e|em|en|er)? (?:letzte|vorige|vorherige|frühere)[nmrs]? (?:gespräch|unterhaltung|chat)/,
  // French
  /rappell?e[rz]?[- ]moi|me rappeler|(?:tu m['’]as|tu m['’]avais|vous m['’]avez|vous m['’]aviez) (?:dit|recommandé|conseillé|suggéré|proposé|parlé)/,
  /\bnotre (?:dernière|précédente) (?:conversation|discussion)|notre (?:conversation|discussion) précédente/,
  // Spanish, Portuguese, Italian
  /recu[eé]rdame|recordarme|me recuerdas|(?:mencionaste|recomendaste|sugeriste|aconsejaste|dijiste|propusiste)/,
  /nuestra (?:última |anterior )?(?:conversación|charla)/,
  /lembre-me|me lembr(?:a|e|ar)\b|lembrar-me|você (?:me )?(?:disse|recomendou|sugeriu|mencionou|aconselhou)|noss[ao] (?:última )?conversa/,
  /ricordami|ricordarmi|mi (?:hai|avevi) (?:detto|consigliato|suggerito|raccomandato|parlato)|nostra (?:ultima |precedente )?conversazione/,
  // Dutch
  /herinner m(?:e|ij)\b|\bje (?:zei|noemde|vertelde|aanraadde|aanbeval|voorstelde)\b|\bons (?:vorige|laatste|eerdere) gesprek/,
  // Russian, Ukrainian
  /напомни|нагадай|(?:ты|вы|ти|ви) (?:мне |мені )?(?:говорил|сказал|советовал|посоветовал|рекомендовал|порекомендовал|упоминал|упомянул|предлагал|предложил|казав|сказав|радив|порадив|рекомендував|згадував|пропонував)/,
  /(?:наш\p{L}*) (?:прошл|предыдущ|последн|минул|попередн|останн)\p{L}* (?:разговор|бесед|чат|розмов)/u,
  // Chinese, Japanese
  /提醒我(?!去)|[你您](?:之前|上次|刚才|剛才|曾经?|以前)|[你您](?:说|說|提到|推荐|推薦|建议|建議|告诉|告訴)过?(?:我)?(?:过|過|的)|我们(?:之前|上次|以前)的?|我們(?:之前|上次|以前)的?/,
  /思い出させて|前回の(?:会話|話|チャット)|前に(?:言|話|教え|勧め|すすめ)|(?:教え|勧め|薦め|すすめ|言っ|提案し|おすすめし)てくれた|あなたが(?:言|勧め|教え|提案)/,
];

export function refersBack(text: string): boolean {
  const read = text.slice(0, READ_CHARACTERS).normalize("NFKC").toLowerCase().replace(/\s+/g, " ");
  return PATTERNS.some((pattern) => pattern.test(read));
}
