//! A server that proves its RSA key with a signature of its own choice, whatever was agreed on.
#![cfg(test)]

use comeback::host::ssh::Config;
use russh::keys::signature::Signer;
use russh::keys::ssh_encoding::Encode;
use russh::keys::ssh_key::Signature;
use russh::keys::{HashAlg, PrivateKey, load_secret_key};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};

use crate::server::keygen;

const BANNER: &str = "SSH-2.0-raw";
/// What it takes, in the order of RFC 4253, section 7.1; the key exchange is of section 8.
const LISTS: [&str; 10] = [
    "diffie-hellman-group14-sha256",
    "rsa-sha2-512",
    "aes256-ctr",
    "aes256-ctr",
    "hmac-sha2-256",
    "hmac-sha2-256",
    "none",
    "none",
    "",
    "",
];

/// The server; it goes as far as the new keys, and then hangs up.
pub struct Raw {
    folder: TempDir,
    listener: TcpListener,
    key: PrivateKey,
}

impl Raw {
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("host_rsa");
        keygen("rsa", "", &key);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        std::fs::create_dir(folder.path().join(".ssh")).unwrap();
        let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
        let known = format!("[127.0.0.1]:{port} {public}");
        std::fs::write(folder.path().join(".ssh/known_hosts"), known).unwrap();
        let key = load_secret_key(key, None).unwrap();
        Self {
            folder,
            listener,
            key,
        }
    }

    pub fn target(&self) -> String {
        format!(
            "ann@127.0.0.1:{}",
            self.listener.local_addr().unwrap().port()
        )
    }

    /// Files by which it is known.
    pub fn config(&self) -> Config {
        Config::in_home(self.folder.path())
    }

    /// Takes one connection, and signs with this hash; SHA-1 where there is none.
    pub async fn serve(&self, hash: Option<HashAlg>) {
        let (stream, _) = self.listener.accept().await.unwrap();
        let mut stream = BufStream::new(stream);
        stream
            .write_all(format!("{BANNER}\r\n").as_bytes())
            .await
            .unwrap();
        let mut ours = vec![20];
        ours.extend([7; 16]);
        for list in LISTS {
            ours.extend(string(list.as_bytes()));
        }
        ours.extend([0; 5]);
        send(&mut stream, &ours).await;
        let mut banner = String::new();
        stream.read_line(&mut banner).await.unwrap();
        let theirs = receive(&mut stream).await;
        let init = receive(&mut stream).await;
        assert_eq!(init[0], 30, "no key exchange of the usual kind");
        // With 1 as the secret number, the public one is the generator, and the client's own is
        // what both sides share.
        let (client, public) = (&init[1..], string(&[2]));
        let host_key = string(&self.key.public_key().to_bytes().unwrap());
        let mut exchange = string(banner.trim_end().as_bytes());
        exchange.extend(string(BANNER.as_bytes()));
        exchange.extend(string(&theirs));
        exchange.extend(string(&ours));
        exchange.extend(&host_key);
        exchange.extend(client);
        exchange.extend(&public);
        exchange.extend(client);
        let hashed = Sha256::digest(&exchange);
        let pair = self.key.key_data().rsa().unwrap();
        let signature: Signature = (pair, hash).try_sign(&hashed).unwrap();
        let mut proof = Vec::new();
        signature.encode(&mut proof).unwrap();
        let reply = [vec![31], host_key, public, string(&proof)].concat();
        send(&mut stream, &reply).await;
        send(&mut stream, &[21]).await;
        assert_eq!(receive(&mut stream).await, [21], "no new keys");
        // What comes next cannot be read here.
        let _ = stream.read_u32().await;
    }
}

fn string(bytes: &[u8]) -> Vec<u8> {
    let size = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    [&size, bytes].concat()
}

async fn send(stream: &mut BufStream<TcpStream>, payload: &[u8]) {
    let padding = 4 + (8 - (payload.len() + 9) % 8);
    let size = u32::try_from(payload.len() + padding + 1).unwrap();
    stream.write_u32(size).await.unwrap();
    stream
        .write_u8(u8::try_from(padding).unwrap())
        .await
        .unwrap();
    stream.write_all(payload).await.unwrap();
    stream.write_all(&vec![0; padding]).await.unwrap();
    stream.flush().await.unwrap();
}

async fn receive(stream: &mut BufStream<TcpStream>) -> Vec<u8> {
    let size = stream.read_u32().await.unwrap() as usize;
    let padding = usize::from(stream.read_u8().await.unwrap());
    let mut payload = vec![0; size - 1];
    stream.read_exact(&mut payload).await.unwrap();
    payload.truncate(size - 1 - padding);
    payload
}
