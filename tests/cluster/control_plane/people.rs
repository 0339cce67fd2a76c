//! People who hold Kubernetes' own roles in a namespace: these kinds are part of them, and answers at the risk of data are not.

use crate::harness::{Space, eventually, shared};

const KINDS: [&str; 2] = ["memcacheds.cache.example.com", "databases.stable.imaginedata.com"];

#[test]
fn who_views_or_edits_a_namespace_may_do_so_with_these_kinds() {
    let _turn = shared();
    let space = Space::new("people");
    for role in ["view", "edit"] {
        space.kubectl(&["create", "serviceaccount", role]).ok();
        let account = format!("--serviceaccount={}:{role}", space.name);
        space.kubectl(&["create", "rolebinding", role, &format!("--clusterrole={role}"), &account]).ok();
    }
    let may = |role: &str, verb: &str, what: &str| {
        let who = format!("--as=system:serviceaccount:{}:{role}", space.name);
        space.kubectl(&["auth", "can-i", verb, what, &who]).out.trim() == "yes"
    };
    for kind in KINDS {
        eventually(20, "the roles are added to", || may("view", "list", kind) && may("edit", "create", kind));
        let scale = format!("{kind}/scale");
        let said = |role: &str| {
            let asked =
                [("get", kind), ("watch", kind), ("create", kind), ("patch", kind), ("delete", kind), ("update", &scale), ("answer", kind)];
            asked.map(|(verb, what)| may(role, verb, what))
        };
        assert_eq!(said("view"), [true, true, false, false, false, false, false], "{kind}");
        assert_eq!(said("edit"), [true, true, true, true, true, true, false], "{kind}");
    }
    assert!(!may("view", "get", "secrets"));
}
