//! Volumes that are soon full: a folder enforces no size, and a small one of memory does.

use crate::harness::{Space, bash, kubectl, kubectl_with};
use serde_json::json;

/// A volume of a few megabytes on the node, for one claim.
pub struct Small<'a> {
    space: &'a Space,
    /// Where it lies on the node.
    pub folder: String,
}

impl<'a> Small<'a> {
    /// Makes one of so many megabytes, for a claim that does not know how small it is.
    #[track_caller]
    pub fn made_for(space: &'a Space, claim: &str, megabytes: u32) -> Self {
        let small = Small { space, folder: format!("/run/pointsman-bed/{}", space.name) };
        let folder = &small.folder;
        bash(&format!("mkdir -p {folder} && mount -t tmpfs -o size={megabytes}m,mode=0777 tmpfs {folder}")).ok();
        let volume = json!({ "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "name": space.name },
            "spec": { "capacity": { "storage": "512Mi" }, "accessModes": ["ReadWriteOnce"], "storageClassName": "local-path",
                "persistentVolumeReclaimPolicy": "Retain", "hostPath": { "path": folder, "type": "Directory" },
                "claimRef": { "namespace": space.name, "name": claim } } });
        kubectl_with(&["create", "--filename", "-"], &volume.to_string()).ok();
        small
    }

    /// Makes room.
    #[track_caller]
    pub fn grows(&self) {
        bash(&format!("mount -o remount,size=256m {}", self.folder)).ok();
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        kubectl(&["delete", "persistentvolume", &self.space.name, "--wait=false"]);
        bash(&format!("umount --lazy {0}; rmdir {0}", self.folder));
    }
}
