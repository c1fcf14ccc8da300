//! The `Plural-Forms` header: how many forms a language has, and which of them goes with a number.

/// Nested parentheses and operators that are followed.
const MOST_DEPTH: usize = 64;

/// What a `Plural-Forms` header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PluralForms {
    /// How many forms a message has.
    pub(crate) count: usize,
    /// The form that goes with one thing, and so with the singular.
    pub(crate) one: usize,
    /// The header as it is written.
    pub(crate) text: String,
}

impl PluralForms {
    /// Reads a header such as `nplurals=2; plural=(n != 1);`. `None` if it makes no sense.
    pub(crate) fn parse(text: &str) -> Option<PluralForms> {
        let mut count = None;
        let mut one = None;
        for part in text.split(';') {
            match part.split_once('=').map(|(name, value)| (name.trim(), value)) {
                Some(("nplurals", value)) => count = value.trim().parse().ok(),
                Some(("plural", value)) => one = evaluate(value, 1),
                _ => {}
            }
        }
        let count = count.filter(|count| (1..=super::MOST_FORMS).contains(count))?;
        let one = usize::try_from(one?).ok().filter(|one| *one < count)?;
        Some(PluralForms { count, one, text: text.trim().to_owned() })
    }
}

/// The value of a C expression over `n`, as gettext allows it. `None` if it is none, or divides by zero.
fn evaluate(text: &str, n: u64) -> Option<u64> {
    let mut expression = Expression { rest: text.as_bytes(), n, depth: 0 };
    let value = expression.choice()?;
    expression.skip_spaces();
    expression.rest.is_empty().then_some(value)
}

struct Expression<'a> {
    rest: &'a [u8],
    n: u64,
    depth: usize,
}

/// The binary operators from the weakest to the strongest; an operator that begins like another comes first.
const LEVELS: [&[&str]; 6] =
    [&["||"], &["&&"], &["==", "!="], &["<=", ">=", "<", ">"], &["+", "-"], &["*", "/", "%"]];

impl Expression<'_> {
    fn choice(&mut self) -> Option<u64> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return None;
        }
        let condition = self.binary(0)?;
        let value = if self.takes("?") {
            let yes = self.choice()?;
            if !self.takes(":") {
                return None;
            }
            let no = self.choice()?;
            if condition == 0 { no } else { yes }
        } else {
            condition
        };
        self.depth -= 1;
        Some(value)
    }

    fn binary(&mut self, level: usize) -> Option<u64> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.takes(operator)) {
            let right = self.binary(level + 1)?;
            left = match *operator {
                "||" => (left != 0 || right != 0).into(),
                "&&" => (left != 0 && right != 0).into(),
                "==" => (left == right).into(),
                "!=" => (left != right).into(),
                "<=" => (left <= right).into(),
                ">=" => (left >= right).into(),
                "<" => (left < right).into(),
                ">" => (left > right).into(),
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                "/" => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<u64> {
        let mut negated = None;
        while self.takes("!") {
            negated = Some(!negated.unwrap_or(false));
        }
        let value = if self.takes("(") {
            let value = self.choice()?;
            if !self.takes(")") {
                return None;
            }
            value
        } else if self.takes("n") {
            self.n
        } else {
            let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (number, rest) = self.rest.split_at(digits);
            self.rest = rest;
            std::str::from_utf8(number).ok()?.parse().ok()?
        };
        Some(match negated {
            None => value,
            Some(negated) => ((value == 0) == negated).into(),
        })
    }

    fn takes(&mut self, token: &str) -> bool {
        self.skip_spaces();
        match self.rest.strip_prefix(token.as_bytes()) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_one_is_the_singulars() {
        for (text, count, one) in [
            ("nplurals=1; plural=0;", 1, 0),
            ("nplurals=2; plural=(n != 1);", 2, 0),
            (" nplurals = 2 ; plural = n>1 ", 2, 0),
            (
                "nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 && n%100<=99 ? 4 : 5;",
                6,
                1,
            ),
            (
                "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);",
                3,
                0,
            ),
            // Slovenian: the form for one is neither the first nor the last.
            ("nplurals=4; plural=(n%100==1 ? 1 : n%100==2 ? 2 : n%100==3 || n%100==4 ? 3 : 0);", 4, 1),
        ] {
            let forms = PluralForms::parse(text).expect(text);
            assert_eq!((forms.count, forms.one), (count, one), "{text}");
        }
    }

    #[test]
    fn expressions_are_those_of_c() {
        for (text, n, value) in [
            ("1 + 2 * 3", 0, 7),
            ("(1 + 2) * 3", 0, 9),
            ("10 - 4 - 3", 0, 3),
            ("n % 10 / 2", 37, 3),
            ("!n", 0, 1),
            ("!!n", 7, 1),
            ("!n == 0", 7, 1),
            ("n >= 2 && n <= 4", 4, 1),
            ("n < 2 || n > 4", 4, 0),
            ("n ? n == 1 ? 10 : 20 : 30", 0, 30),
            ("n ? n == 1 ? 10 : 20 : 30", 1, 10),
            ("n ? n == 1 ? 10 : 20 : 30", 2, 20),
        ] {
            assert_eq!(evaluate(text, n), Some(value), "{text}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_none() {
        let deep = format!("nplurals=2; plural={}n{};", "(".repeat(100_000), ")".repeat(100_000));
        for text in [
            "",
            "nplurals=INTEGER; plural=EXPRESSION;",
            "nplurals=2",
            "nplurals=0; plural=0",
            "nplurals=2; plural=2",
            "nplurals=2; plural=n/0",
            "nplurals=2; plural=n%(n-1)",
            "nplurals=2; plural=(n",
            "nplurals=2; plural=n n",
            "nplurals=2; plural=n ? 1",
            "nplurals=99999999999999999999; plural=0",
            "nplurals=1000000; plural=0",
            &deep,
        ] {
            assert_eq!(PluralForms::parse(text), None, "{}", &text[..text.len().min(60)]);
        }
    }
}
