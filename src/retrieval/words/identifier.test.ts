import { expect, test } from "vitest";
import { analyse } from "./analyse.js";

const terms = (text: string) => [...analyse(text).keys()];
const meet = (one: string, other: string) => terms(one).some((term) => analyse(other).has(term));

test.each([
  ["snake case", "user_id", ["user_id", "user", "id"]],
  ["kebab case", "foo-bar", ["foo-bar", "foo", "bar"]],
  ["dots", "node.js", ["node.js", "node", "js"]],
  ["camel case", "fooBar", ["foobar", "foo", "bar"]],
  ["an acronym before a word", "HTTPLib", ["httplib", "http", "lib"]],
  ["letters and digits", "GPT4", ["gpt4", "gpt", "4"]],
  ["more than one turn", "iPhone15Pro", ["iphone15pro", "i", "phone", "15", "pro"]],
  ["a version", "1.2.3", ["1.2.3", "1", "2", "3"]],
  ["a version with its letter", "v1.2", ["v1.2", "v1", "v", "1", "2"]],
  ["a date", "2026-11-15", ["2026-11-15", "2026", "11", "15"]],
  ["a time", "10:30", ["10:30", "10", "30"]],
  ["an address", "ada@foo.com", ["ada@foo.com", "ada", "foo.com", "foo", "com"]],
  ["a path", "/usr/local/bin", ["usr/local/bin", "usr", "local", "bin"]],
  ["a path of Windows", "C:\\Temp\\a.txt", ["c:/temp/a.txt", "c", "temp", "a.txt", "a", "txt"]],
  ["a hidden file in a path", "a/.git", ["a/.git", "a", ".git", "git"]],
  ["a URL", "http://foo.com/a", ["http://foo.com/a", "http", "foo.com", "foo", "com", "a"]],
  ["a method", "foo.barBaz", ["foo.barbaz", "foo", "barbaz", "bar", "baz"]],
  ["a name in a name space", "std::map", ["std::map", "std", "map"]],
  ["C++", "C++", ["c++", "c"]],
  ["C#", "C#", ["c#", "c"]],
  ["C++ with a year", "C++17", ["c++17", "c++", "c", "17"]],
  ["C# and F#", "C#/F#", ["c#/f#", "c#", "c", "f#", "f"]],
  ["not C# but an anchor", "page#top", ["page#top", "page", "top"]],
  ["a plus between", "a+b", ["a+b", "a", "b"]],
  ["initials", "U.S.A.", ["u.s.a", "usa", "u", "s", "a"]],
  ["a hyphen that is often left out", "Wi-Fi", ["wi-fi", "wifi", "wi", "fi"]],
  ["the plural of an acronym", "APIs", ["api"]],
  ["underscores around", "__init__", ["init"]],
  ["underscores between", "a__b", ["a__b", "a", "b"]],
  ["an ellipsis", "foo...bar", ["foo", "bar"]],
  ["a double hyphen", "foo--bar", ["foo", "bar"]],
  ["a row of joiners", "foo////bar", ["foo", "bar"]],
  ["an em dash", "foo—bar", ["foo", "bar"]],
  ["a comma", "foo,bar", ["foo", "bar"]],
  ["joiners at the ends", "-foo.", ["foo"]],
  ["joiners with nothing between", "a/'/b", ["a//b", "a", "b"]],
])("%s: %s", (_, text, expected) => expect(terms(text)).toEqual(expected));

test("the whole is not stemmed, but its words are", () => {
  expect(terms("running-shoes")).toEqual(["running-shoes", "run", "shoe"]);
});

test("a camel-case name is found in any spelling", () => {
  expect(terms("getUserName")).toEqual(["getusername", "getusernam", "get", "user", "name"]);
  for (const typed of ["youtube", "Youtube", "YOUTUBE"]) {
    expect(terms(typed)).toHaveLength(1);
    expect(meet(typed, "YouTube")).toBe(true);
  }
});

test.each([
  ["1,000", "1000"],
  ["1,234,567", "1234567"],
  ["1'000", "1000"],
  ["1,000.50", "1000.50"],
  ["3,14", "3.14"],
  ["１２３", "123"],
  ["١٬٠٠٠", "1000"],
])("the numbers %s and %s are the same", (one, other) => expect(terms(one)).toEqual(terms(other)));

test.each([
  ["1000", ["1000"]],
  ["3.14", ["3.14", "3", "14"]],
  ["10,20,300", ["10.20.300", "10", "20", "300"]],
  ["50%", ["50"]],
  ["$5", ["5"]],
  ["½", ["1/2", "1", "2"]],
])("the number %s", (text, expected) => expect(terms(text)).toEqual(expected));

test.each([
  ["e-mail", "email"],
  ["US", "U.S."],
  ["GPT-4", "GPT4"],
  ["userId", "user_id"],
  ["analyse.ts", "see src/retrieval/words/analyse.ts"],
  ["example.com", "https://example.com/a?b=c"],
  ["getUserName", "user.getUserName(id)"],
])("%s finds %s", (question, text) => expect(meet(question, text)).toBe(true));

test("hashes and keys are not split", () => {
  expect(terms("a3f9c2e1")).toEqual(["a3f9c2e1"]);
  expect(terms("9b2d")).toEqual(["9b2d"]);
  expect(terms("AKIA4X9QZ7PLM2")).toEqual(["akia4x9qz7plm2"]);
});

test.each([
  ["dog's", ["dog"]],
  ["dogs'", ["dog"]],
  ["Ada’s", ["ada"]],
  ["NASA'S", ["nasa"]],
  ["node.js's", ["node.js", "node", "js"]],
  ["C++'s", ["c++", "c"]],
  ["don't", ["dont"]],
  ["DON’T", ["dont"]],
  ["they've", ["theyv"]],
  ["we'll", ["well"]],
  ["l'avion", ["lavion", "avion"]],
  ["O'Brien", ["obrien", "brien"]],
  ["O’Brien’s", ["obrien", "brien"]],
  ["rock'n'roll", ["rocknrol", "rock", "roll"]],
  ["'quoted'", ["quot"]],
  ["'tis", ["ti"]],
  ["''", []],
])("the apostrophes of %s", (text, expected) => expect(terms(text)).toEqual(expected));
