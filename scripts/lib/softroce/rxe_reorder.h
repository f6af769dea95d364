/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Out-of-order placement of RDMA WRITEs in Soft-RoCE, as adapters have it with adaptive routing or relaxed ordering. The
 * build of the guest's kernel (source.sh) puts this file beside rxe_resp.c, the responder, which includes it.
 *
 * With /sys/module/rdma_rxe/parameters/reorder_writes at N > 0, the payload of some packets is held back for 1 to N ms:
 * of every other packet that isn't its message's last, and of every fourth one that is. The message is acknowledged all
 * the same. So its last bytes are there before the rest, and a WRITE before an earlier one. What stays in order:
 *
 *   - a receive's completion, a READ or an atomic of a queue pair comes after all earlier WRITEs of this queue pair
 *   - of two WRITEs of the same bytes, the later one stays
 *
 * /sys/module/rdma_rxe/parameters/reordered_writes counts the packets that were held back.
 */
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

static unsigned int reorder_writes;
module_param(reorder_writes, uint, 0644);
static unsigned long reordered_writes;
module_param(reordered_writes, ulong, 0444);

struct rxe_held_write {
	struct list_head	list;
	struct rxe_qp		*qp;	/* only to be compared: it may be gone */
	struct rxe_mr		*mr;	/* a reference of its own */
	u64			iova;
	int			length;
	unsigned long		due;
	u8			data[];
};

static LIST_HEAD(rxe_held_writes);
static DEFINE_SPINLOCK(rxe_held_lock);

static void rxe_place_due_writes(struct work_struct *work);
static DECLARE_DELAYED_WORK(rxe_place_work, rxe_place_due_writes);

/* Under the lock, as no newer bytes may come in between. */
static void rxe_place_write(struct rxe_held_write *held)
{
	list_del(&held->list);
	rxe_mr_copy(held->mr, held->iova, held->data, held->length, RXE_TO_MR_OBJ);
	rxe_put(held->mr);
	kfree(held);
}

static void rxe_place_due_writes(struct work_struct *work)
{
	struct rxe_held_write *held, *next;

	spin_lock_bh(&rxe_held_lock);
	list_for_each_entry_safe(held, next, &rxe_held_writes, list)
		if (time_after_eq(jiffies, held->due))
			rxe_place_write(held);
	if (!list_empty(&rxe_held_writes))
		schedule_delayed_work(&rxe_place_work, 1);
	spin_unlock_bh(&rxe_held_lock);
}

/* All that was held back on the queue pair is placed when this returns. */
static void rxe_place_writes_of(struct rxe_qp *qp)
{
	struct rxe_held_write *held, *next;

	spin_lock_bh(&rxe_held_lock);
	list_for_each_entry_safe(held, next, &rxe_held_writes, list)
		if (held->qp == qp)
			rxe_place_write(held);
	spin_unlock_bh(&rxe_held_lock);
}

/* Places the payload of a packet of a WRITE, now or later. */
static int rxe_reorder_write(struct rxe_qp *qp, struct rxe_pkt_info *pkt)
{
	unsigned int most = READ_ONCE(reorder_writes);
	u64 iova = qp->resp.va + qp->resp.offset;
	int length = payload_size(pkt);
	struct rxe_held_write *held, *next;
	int err = 0;

	if (!most && list_empty_careful(&rxe_held_writes))
		return rxe_mr_copy(qp->resp.mr, iova, payload_addr(pkt), length, RXE_TO_MR_OBJ);
	spin_lock_bh(&rxe_held_lock);
	list_for_each_entry_safe(held, next, &rxe_held_writes, list)
		if (held->mr == qp->resp.mr && held->iova < iova + length && iova < held->iova + held->length)
			rxe_place_write(held);

	held = NULL;
	if (most && length && qp_type(qp) == IB_QPT_RC && !get_random_u32_below(pkt->mask & RXE_END_MASK ? 4 : 2))
		held = kmalloc(struct_size(held, data, length), GFP_ATOMIC);
	if (held) {
		rxe_get(qp->resp.mr);
		held->qp = qp;
		held->mr = qp->resp.mr;
		held->iova = iova;
		held->length = length;
		held->due = jiffies + 1 + get_random_u32_below(most);
		memcpy(held->data, payload_addr(pkt), length);
		list_add_tail(&held->list, &rxe_held_writes);
		reordered_writes++;
		schedule_delayed_work(&rxe_place_work, 1);
	} else {
		err = rxe_mr_copy(qp->resp.mr, iova, payload_addr(pkt), length, RXE_TO_MR_OBJ);
	}
	spin_unlock_bh(&rxe_held_lock);
	return err;
}
