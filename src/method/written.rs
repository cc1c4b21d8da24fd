//! A method as it is written in a file, before it is checked.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

use super::SubjectKind;
use super::action::{HashDef, PayloadDef, SpaceDef, WaitDef};
use super::ahead::CheckEntry;
use super::leaves::LeavesEntry;
use super::model::{
    Background, ClockDef, DestroysDef, Each, FigureDef, Need, Own, Secret, ThickDef, Until, Watch,
};
use super::pipe::Member;
use super::placement::PlacementEntry;
use super::pool::PoolEntry;
use super::setting::Setting;
use crate::event::{Clock, Phase};

/// A method file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MethodDef {
    pub title: String,
    pub family: String,
    #[serde(default)]
    pub help: String,
    pub subject: SubjectKind,
    #[serde(default)]
    pub own: Own,
    pub roles: Vec<String>,
    #[serde(default)]
    pub optional: Vec<String>,
    #[serde(default)]
    pub needs: Vec<NeedDef>,
    pub series: String,
    #[serde(default)]
    pub settings: BTreeMap<String, Spanned<Setting>>,
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    #[serde(default)]
    pub step: Vec<Spanned<StepDef>>,
    #[serde(default)]
    pub clock: Vec<Spanned<ClockDef>>,
    #[serde(default)]
    pub figure: Vec<Spanned<FigureDef>>,
    #[serde(default)]
    pub pool: Vec<Spanned<PoolEntry>>,
    #[serde(default)]
    pub check: Vec<Spanned<CheckEntry>>,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    pub room: Option<String>,
    #[serde(default, rename = "room-on")]
    pub room_on: BTreeMap<String, String>,
    #[serde(default)]
    pub thick: Option<ThickDef>,
    #[serde(default)]
    pub placement: Option<Spanned<PlacementEntry>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NeedTable {
    pub tool: String,
    pub on: Option<String>,
    pub when: Option<String>,
}

/// `"tar"`, or `{ tool = "zstd", when = "compress == 'zstd'" }`.
#[derive(Debug, Clone)]
pub(super) struct NeedDef(pub Need);

impl<'de> Deserialize<'de> for NeedDef {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = NeedDef;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a program's name, or a table with tool, on, when")
            }

            fn visit_str<E: de::Error>(self, tool: &str) -> Result<NeedDef, E> {
                Ok(NeedDef(Need {
                    tool: tool.to_owned(),
                    on: None,
                    when: None,
                }))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<NeedDef, A::Error> {
                let NeedTable { tool, on, when } =
                    NeedTable::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(NeedDef(Need { tool, on, when }))
            }
        }
        from.deserialize_any(Either)
    }
}

/// A step as it stands in a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct StepDef {
    pub name: Option<String>,
    pub phase: Option<Phase>,
    pub run: Option<String>,
    pub pipe: Option<Vec<Member>>,
    pub wait: Option<WaitDef>,
    pub hash: Option<HashDef>,
    pub space: Option<SpaceDef>,
    pub payload: Option<PayloadDef>,
    pub join: Option<String>,
    #[serde(rename = "use")]
    pub fragment: Option<String>,
    #[serde(default)]
    pub with: BTreeMap<String, String>,
    pub on: Option<String>,
    pub when: Option<String>,
    pub each: Option<Each>,
    pub clock: Option<Clock>,
    pub reads: Option<String>,
    #[serde(default)]
    pub figures: Vec<String>,
    #[serde(default)]
    pub gives: BTreeMap<String, String>,
    #[serde(default)]
    pub ok: Vec<i32>,
    pub leaves: Option<OneOrMany<LeavesEntry>>,
    pub undoes: Option<String>,
    pub proves: Option<String>,
    pub destroys: Option<DestroysDef>,
    pub background: Option<Background>,
    pub until: Option<Until>,
    pub expect: Option<String>,
    pub moves: Option<String>,
    pub watch: Option<Watch>,
    pub secret: Option<Secret>,
    pub stdin: Option<String>,
    pub series: Option<String>,
    pub hashed: Option<String>,
    pub via: Option<String>,
}

/// A table, or a list of them.
#[derive(Debug, Clone)]
pub(super) struct OneOrMany<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table or a list of tables")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OneOrMany<T>, A::Error> {
                T::deserialize(de::value::MapAccessDeserializer::new(map))
                    .map(|one| OneOrMany(vec![one]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<OneOrMany<T>, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(OneOrMany)
            }
        }
        from.deserialize_any(Either(PhantomData))
    }
}
