//! Reading JSON into a tree, small: the page carries this code, and the derived readers of a general library weigh more
//! than everything else that the core has (see ARCHITECTURE.md). A test holds it against `serde_json`.

use crate::error::InputError;

/// A JSON value. Objects keep the order of their fields; numbers keep their text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// What it is, in words.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// How deep values may be nested.
const DEEPEST: usize = 32;

/// Reads a text that is one JSON value.
///
/// # Errors
/// Where the text is not JSON: line and column, and what was expected there.
pub(crate) fn parse(text: &str) -> Result<Json, InputError> {
    let mut parser = Parser { text, at: 0 };
    let value = parser.value(0)?;
    parser.space();
    if parser.at < text.len() {
        return Err(parser.error("the end: there is more after the value"));
    }
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    /// Position in bytes, always between characters.
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn error(&self, expected: &str) -> InputError {
        let before = &self.text[..self.at];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let found = if self.at == self.text.len() { ", found the end (EOF)" } else { "" };
        InputError::new("", format!("not JSON at line {line}, column {column}: expected {expected}{found}"))
    }

    fn take(&mut self, byte: u8, expected: &str) -> Result<(), InputError> {
        self.space();
        if self.peek() != Some(byte) {
            return Err(self.error(expected));
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, InputError> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.error("a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn value(&mut self, depth: usize) -> Result<Json, InputError> {
        self.space();
        if depth > DEEPEST {
            return Err(self.error("no deeper nesting"));
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) | None => Err(self.error("a value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, InputError> {
        self.at += 1;
        let mut fields: Vec<(String, Json)> = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(fields));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.error("a field's name in quotes"));
            }
            let name = self.string()?;
            self.take(b':', "a colon")?;
            let value = self.value(depth + 1)?;
            fields.push((name, value));
            self.space();
            if self.peek() == Some(b',') {
                self.at += 1;
            } else {
                self.take(b'}', "a comma or a closing brace")?;
                return Ok(Json::Object(fields));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, InputError> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.peek() == Some(b',') {
                self.at += 1;
            } else {
                self.take(b']', "a comma or a closing bracket")?;
                return Ok(Json::List(items));
            }
        }
    }

    fn digits(&mut self) -> Result<(), InputError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.error("a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Json, InputError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Json::Number(self.text[start..self.at].to_owned()))
    }

    fn string(&mut self) -> Result<String, InputError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let Some(c) = self.text[self.at..].chars().next() else { return Err(self.error("a closing quote")) };
            if c < ' ' {
                return Err(self.error("no control character in a text"));
            }
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(out),
                '\\' => out.push(self.escape()?),
                c => out.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, InputError> {
        let Some(byte) = self.peek() else { return Err(self.error("an escape")) };
        let plain = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.error("an escape")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn hex(&mut self) -> Result<u32, InputError> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let Some(code) = code else { return Err(self.error("four hexadecimal digits")) };
        self.at += 4;
        Ok(code)
    }

    fn unicode(&mut self) -> Result<char, InputError> {
        let high = self.hex()?;
        let code = if (0xD800..0xDC00).contains(&high) && self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            let low = self.hex()?;
            if !(0xDC00..0xE000).contains(&low) {
                return Err(self.error("the second half of a pair"));
            }
            0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)
        } else {
            high
        };
        char::from_u32(code).ok_or_else(|| self.error("a character"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn as_serde(json: &Json) -> serde_json::Value {
        match json {
            Json::Null => serde_json::Value::Null,
            Json::Bool(value) => (*value).into(),
            Json::Number(text) => serde_json::from_str(text).unwrap_or(serde_json::Value::Null),
            Json::Text(text) => text.as_str().into(),
            Json::List(items) => items.iter().map(as_serde).collect::<Vec<_>>().into(),
            Json::Object(fields) => {
                serde_json::Value::Object(fields.iter().map(|(name, value)| (name.clone(), as_serde(value))).collect())
            }
        }
    }

    fn agrees(text: &str) {
        match (parse(text), serde_json::from_str::<serde_json::Value>(text)) {
            (Ok(ours), Ok(theirs)) => assert_eq!(as_serde(&ours), theirs, "{text}"),
            (Err(_), Err(_)) => {}
            // A number too large for a library that turns it into a float is still a number.
            (Ok(_), Err(error)) => assert!(error.to_string().contains("out of range"), "{text}: {error}"),
            (Err(error), Ok(_)) => panic!("{text}: {error}"),
        }
    }

    #[test]
    fn it_reads_what_serde_json_reads() {
        for text in [
            "null",
            "true",
            "[]",
            "{}",
            "0",
            "-0",
            "01",
            "1.",
            ".5",
            "-",
            "1e5",
            "1E+5",
            "1e",
            "\"a\\u00e9\\n\"",
            "\"\\ud83d\\ude00\"",
            "\"\\ud83d\"",
            "\"\\ude00\"",
            "\"\\x\"",
            "\"a",
            "{\"a\":1,}",
            "[1,]",
            "{a:1}",
            "[1 2]",
            "{\"a\" 1}",
            " [ 1 , { \"b\" : null } ] ",
            "nul",
            "truee",
            "\"\t\"",
            "\u{feff}1",
            "",
            " ",
            "[",
            "\"\\u12\"",
        ] {
            agrees(text);
        }
    }

    #[test]
    fn errors_name_line_and_column() {
        let error = parse("{\n  \"a\": ?\n}").expect_err("no value");
        assert_eq!(error.message, "not JSON at line 2, column 8: expected a value");
        assert!(parse("[").expect_err("cut short").message.ends_with("found the end (EOF)"));
        assert!(parse(&"[".repeat(1_000_000)).expect_err("too deep").message.contains("nesting"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_serde_json_reads_it(text in r#"[\[\]{}:,"\\ 0-9a-z.eE+-]{0,24}"#) {
            agrees(&text);
        }

        #[test]
        fn any_string_is_read_back(text in any::<String>()) {
            let json = serde_json::Value::from(text.as_str()).to_string();
            prop_assert_eq!(parse(&json), Ok(Json::Text(text)));
        }
    }
}
