//! scratch
use diglot_engine::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let corpus = &args[1];
    let queries = &args[2];
    let check: usize = args.get(3).map_or(0, |s| s.parse().unwrap());
    let filtered = args.iter().any(|a| a == "--filter");
    let t = Instant::now();
    let text = std::fs::read_to_string(corpus).unwrap();
    let mut batch = Batch::new();
    let mut sources = Vec::new();
    for line in text.lines() {
        let v: serde_json::Value = serde_json::from_str(line).unwrap();
        let g = |k: &str| v.get(k).and_then(|x| x.as_str());
        let source = g("source").unwrap();
        batch.push(EntryRef { source, target: g("target").unwrap_or("x"), source_language: g("source_language"), target_language: g("target_language"), domain: g("domain"), namespace: g("namespace"), source_id: g("source_id"), ..Default::default() }).unwrap();
        if check > 0 { sources.push((text::normalize(source), g("source_language").unwrap_or("").to_string(), g("target_language").unwrap_or("").to_string())); }
    }
    drop(text);
    eprintln!("read+push {:?} {}", t.elapsed(), batch.len());
    let t = Instant::now();
    let memory = Memory::new();
    let p = batch.prepare(Control::NONE).unwrap();
    eprintln!("prepare {:?}", t.elapsed());
    memory.publish(p);
    let s = memory.stats();
    eprintln!("{s:?} {:.1} B/row", (s.bytes.trigram_index + s.bytes.token_index + s.bytes.normalized_texts + s.bytes.row_tables) as f64 / s.rows as f64);
    let qs: Vec<(String, String, String, String)> = std::fs::read_to_string(queries).unwrap().lines().map(|l| {
        let v: serde_json::Value = serde_json::from_str(l).unwrap();
        let g = |k: &str| v[k].as_str().unwrap_or("").to_string();
        (g("query"), g("source_language"), g("target_language"), g("kind"))
    }).collect();
    let opts = |q: &(String, String, String, String)| SearchOptions { filter: if filtered { Filter { source_language: Some(q.1.clone()), target_language: Some(q.2.clone()), ..Default::default() } } else { Filter::default() }, ..Default::default() };
    for round in 0..3 {
        let mut times: Vec<(f64, usize)> = Vec::new();
        for (i, q) in qs.iter().enumerate() {
            let o = opts(q);
            let t = Instant::now();
            let f = memory.search(&q.0, &o, Control::NONE).unwrap();
            times.push((t.elapsed().as_secs_f64() * 1e6, i));
            std::hint::black_box(f.hits().len());
        }
        let mut s: Vec<f64> = times.iter().map(|t| t.0).collect();
        s.sort_by(f64::total_cmp);
        let pc = |p: f64| s[(s.len() as f64 * p) as usize];
        println!("round {round}: p10 {:.0} p50 {:.0} p90 {:.0} p95 {:.0} p99 {:.0} max {:.0} mean {:.0} us", pc(0.1), pc(0.5), pc(0.9), pc(0.95), pc(0.99), s[s.len() - 1], s.iter().sum::<f64>() / s.len() as f64);
        if round == 2 {
            diglot_engine::report();
            times.sort_by(|a, b| b.0.total_cmp(&a.0));
            for t in times.iter().take(5) { println!("{:.0} {:?}", t.0, qs[t.1].0.chars().take(100).collect::<String>()); }
        }
    }
    if check > 0 {
        let mut bad = 0;
        for q in qs.iter().step_by(qs.len() / check) {
            let nq = text::normalize(&q.0);
            let mut all: Vec<(f64, usize)> = sources.iter().enumerate().filter(|(_, s)| !filtered || (s.1.eq_ignore_ascii_case(&q.1) && s.2.eq_ignore_ascii_case(&q.2))).map(|(i, s)| (text::similarity(&nq, &s.0), i)).filter(|x| x.0 >= 0.2).collect();
            all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            all.truncate(5);
            let f = memory.search(&q.0, &opts(q), Control::NONE).unwrap();
            let got: Vec<(f64, usize)> = f.hits().map(|h| (h.score, h.id as usize)).collect();
            if got != all { bad += 1; println!("BAD {:?}\n got {:?}\n exp {:?}", q.0, got, all); }
        }
        println!("checked, bad {bad}");
    }
}
