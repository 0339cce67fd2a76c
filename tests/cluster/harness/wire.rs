//! memcached's own text protocol, as much of it as the tests speak.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A client's connection to one pod.
#[derive(Debug)]
pub struct Client(BufReader<TcpStream>);

impl Client {
    /// Connects to `host:port`.
    pub fn connect(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address.parse().unwrap(), Duration::from_secs(5))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Client(BufReader::new(stream)))
    }

    /// Sends bytes and waits for nothing.
    pub fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.get_mut().write_all(bytes)
    }

    /// One line of the answer.
    pub fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    /// Stores a value; the answer is `STORED` when it was.
    pub fn set(&mut self, key: &str, value: &[u8]) -> std::io::Result<String> {
        self.send(format!("set {key} 0 0 {}\r\n", value.len()).as_bytes())?;
        self.send(value)?;
        self.send(b"\r\n")?;
        self.line()
    }

    /// What `stats settings` answers.
    pub fn settings(&mut self) -> std::io::Result<BTreeMap<String, String>> {
        self.stats("settings")
    }

    /// What `stats WHAT` answers.
    pub fn stats(&mut self, what: &str) -> std::io::Result<BTreeMap<String, String>> {
        self.send(format!("stats {what}\r\n").as_bytes())?;
        let mut stats = BTreeMap::new();
        loop {
            let line = self.line()?;
            let mut words = line.splitn(3, ' ');
            match (words.next(), words.next(), words.next()) {
                (Some("STAT"), Some(name), value) => stats.insert(name.to_owned(), value.unwrap_or_default().to_owned()),
                _ => return Ok(stats),
            };
        }
    }
}
