//! Strongly connected components that nothing leads out of.

/// One member of each bottom component of a graph, and the component's size (Tarjan, without recursion).
pub fn bottoms(graph: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let count = graph.len();
    let (mut order, mut low, mut component) = (vec![usize::MAX; count], vec![0; count], vec![usize::MAX; count]);
    let (mut waiting, mut next, mut found) = (Vec::new(), 0, Vec::new());
    for root in 0..count {
        let mut work = if order[root] == usize::MAX { vec![(root, 0)] } else { Vec::new() };
        while let Some((at, edge)) = work.pop() {
            if edge == 0 {
                (order[at], low[at]) = (next, next);
                next += 1;
                waiting.push(at);
            }
            if let Some(&to) = graph[at].get(edge) {
                work.push((at, edge + 1));
                if order[to] == usize::MAX {
                    work.push((to, 0));
                } else if component[to] == usize::MAX {
                    low[at] = low[at].min(order[to]);
                }
                continue;
            }
            if let Some(&(parent, _)) = work.last() {
                low[parent] = low[parent].min(low[at]);
            }
            if low[at] == order[at] {
                let first = waiting.iter().position(|member| *member == at).expect("it waits");
                let members = waiting.split_off(first);
                for member in &members {
                    component[*member] = found.len();
                }
                found.push((at, members));
            }
        }
    }
    let closed = |number: &usize, members: &[usize]| members.iter().all(|member| graph[*member].iter().all(|to| component[*to] == *number));
    found
        .iter()
        .enumerate()
        .filter(|(number, (_, members))| closed(number, members))
        .map(|(_, (at, members))| (*at, members.len()))
        .collect()
}

#[test]
fn a_ring_that_nothing_leaves_is_found_and_one_with_an_exit_is_not() {
    let graph = [vec![1], vec![2], vec![1, 3], vec![4], vec![3], vec![]];
    let mut sizes: Vec<usize> = bottoms(&graph).into_iter().map(|(_, size)| size).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 2]);
}
